// Parts of a model: their short forms, and those that are not there.
#include "analysis/part.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/capture.hpp"

using namespace tapestry;

namespace {

const Indices ids({6}, {0, 3, 2, 6, 1, 3});
const Question question{.position = 4, .token = 3, .against = 1};

ModelPart part(const char* text) { return parse_part(text); }

}  // namespace

TEST_CASE("parts have a short form", "[phase7][analysis]") {
  for (const char* text : {"2.3", "12.0", "9.9", "2.attention", "0.mlp", "2.3:7>4", "@5", "@0"}) {
    CHECK(to_string(parse_part(text)) == text);
  }
  CHECK(part("2.3") == ModelPart{.kind = PartKind::head, .layer = 2, .head = 3});
  CHECK(part("2.attention") == ModelPart{.kind = PartKind::attention, .layer = 2});
  CHECK(part("1.mlp") == ModelPart{.kind = PartKind::feed_forward, .layer = 1});
  CHECK(part("@5") == ModelPart{.kind = PartKind::position, .position = 5});
  CHECK(part("2.3:7>4") ==
        ModelPart{.kind = PartKind::link, .layer = 2, .head = 3, .query = 7, .key = 4});
  CHECK_FALSE(part("2.3") == part("2.4"));
  for (const char* text :
       {"",       "2",       "2.",           ".3",    "2.3.",
        "2.x",    "2.mlp1",  "2.attention ", "2.3:7", "2.3:7>",
        "2.3:>4", "2.3:7<4", "2.3:7>4>1",    "@",     "@5x",
        "@-1",    "-1.0",    "2.+3",         "2 .3",  "99999999999999999999.1"}) {
    CAPTURE(text);
    CHECK(complaint([&] { (void)parse_part(text); },
                    {text, "2.3 for", "2.attention", "2.mlp", "2.3:7>4", "@5"}) == "");
  }
}

TEST_CASE("without a part a text differs from the first position that it reaches on",
          "[phase7][analysis]") {
  const Transformer model = scattered(tiny());
  const Reading reading("cut", model, ids, question);
  const auto first = [&](std::vector<ModelPart> parts) { return without(reading, parts).first; };
  CHECK(first({}) == 6);  // nowhere
  CHECK(first({part("1.0")}) == 0);
  CHECK(first({part("1.attention")}) == 0);
  CHECK(first({part("0.mlp")}) == 0);
  CHECK(first({part("@2")}) == 3);
  CHECK(first({part("0.1:4>2")}) == 4);
  CHECK(first({part("0.1:5>0"), part("1.0:3>1"), part("@3")}) == 3);
}

TEST_CASE("parts that are not there are refused", "[phase7][analysis]") {
  const Transformer model = scattered(like_gpt_neo());  // the window of layer 1 is 2
  const Transformer few = scattered(attention_only(tiny()));
  const auto refused = [&](const Transformer& m, const char* what,
                           std::initializer_list<const char*> words) {
    return complaint([&] { (void)cut(m, ids, question, {{part(what)}}); }, words);
  };
  CHECK(refused(model, "2.0", {"no part 2.0", "layers are 0 to 1"}) == "");
  CHECK(refused(model, "2.attention", {"no part 2.attention", "0 to 1"}) == "");
  CHECK(refused(model, "1.2", {"no part 1.2", "heads of each 0 to 1"}) == "");
  CHECK(refused(model, "1.2:1>1", {"no part 1.2:1>1", "heads of each"}) == "");
  CHECK(refused(few, "0.mlp", {"no part 0.mlp", "attention only"}) == "");
  CHECK(refused(model, "@6", {"no part @6", "positions are 0 to 5"}) == "");
  CHECK(refused(model, "0.0:6>1", {"no part 0.0:6>1", "positions are 0 to 5"}) == "");
  CHECK(refused(model, "0.0:1>6", {"no part 0.0:1>6", "positions are 0 to 5"}) == "");
  CHECK(refused(model, "0.0:1>2", {"1 does not see position 2", "those before."}) == "");
  CHECK(refused(model, "1.0:3>1", {"3 does not see position 1", "window of 2"}) == "");
  TransformerOptions o = tiny();
  o.windows = {0, 1};
  CHECK(refused(scattered(o), "1.0:3>2", {"before, within a window of 1."}) == "");
  for (const auto& [layers, words] : {std::pair(0, "has no layers"), {1, "layers are 0 to 0"}}) {
    TransformerOptions few_layers = tiny();
    few_layers.num_layers = layers;
    CHECK(refused(scattered(few_layers), "1.0", {words}) == "");
  }
  CHECK(refused(scattered(like_bert()), "0.0:1>4", {}) == "nothing was thrown");
  CHECK(complaint([&] { (void)cut(model, ids, {.position = 7}, {}); }, {"no position 7"}) == "");
  CHECK(complaint([&] { (void)cut_heads(model, Indices({2, 3}, ids.values), question); },
                  {"cut_heads", "one text"}) == "");
  CHECK(complaint([&] { (void)cut_layers(model, ids, {.token = 7}); }, {"no token 7"}) == "");
  const Capture other;
  CHECK(complaint([&] { (void)cut_positions(model, ids, question); }, {"another Capture"}) == "");
}
