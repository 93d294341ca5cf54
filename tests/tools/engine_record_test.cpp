// The explorer's engine: recordings, as a model is and with changes, against the library's capture.
#include <limits>

#include "engine_bench.hpp"
#include "model.hpp"
#include "tapestry/analysis/lens.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr const char* text = "a b c a d";

std::string record(const std::string& changes = "", const std::string& model = "decoder") {
  return "{'call': 'record', 'models': [{'model': '" + model + "'" + changes + "}], 'texts': ['" +
         text + "']}";
}

// What captures store of weights (1, heads, length, length): row i has the first i + 1.
std::vector<double> rows_of(const Tensor& weights) {
  std::vector<double> rows;
  for (Index head = 0; head < weights.size(1); ++head) {
    for (Index i = 0; i < weights.size(2); ++i) {
      for (Index j = 0; j <= i; ++j) rows.push_back(double{weights.at({0, head, i, j})});
    }
  }
  return rows;
}

// The largest difference of a recorded run of a decoder from what the library saw.
double far_from(const Answer& answer, std::size_t number, const Seen& seen) {
  const Json& run = answer.json["runs"][number];
  double most = 0;
  const auto compare = [&](const Json& place, const auto& right) {
    most = std::max(most, apart(numbers_at<float>(answer, run, place), right));
  };
  for (std::size_t layer = 0; layer < run["layers"].size(); ++layer) {
    const std::string at = "blocks." + std::to_string(layer) + ".attention.";
    const Json& one = run["layers"][layer];
    for (const char* name : {"query", "key", "value"}) {
      compare(one[name], seen.parts.at(at + name).values());
    }
    compare(one["weights"], rows_of(seen.parts.at(at + "weights")));
  }
  const Tensor shares = softmax(seen.logits);  // (length, vocabulary)
  std::vector<real> likeliest;
  for (Index i = 0; i < shares.size(0); ++i) {
    likeliest.push_back(max(slice(shares, 0, i, i + 1)).item());
  }
  const auto last = numbers_at<float>(answer, run, run["lens"]["final"]);
  compare(run["next"]["actual"], [&] {
    const Json& ids = answer.json["texts"][run["text"].get<std::size_t>()]["ids"];
    std::vector<double> right;
    for (Index i = 0; i + 1 < shares.size(0); ++i) {
      right.push_back(double{shares.at({i, ids[static_cast<std::size_t>(i) + 1].get<Index>()})});
    }
    right.push_back(std::nan(""));
    return right;
  }());
  const std::vector<float> end(last.end() - shares.size(0), last.end());
  return std::max(most, apart(end, likeliest));
}

Tensor without_head(const Tensor& heads, Index head) {
  Tensor x = heads.clone();  // (1, heads, length, head_dim)
  for (Index i = 0; i < x.size(2); ++i) {
    for (Index j = 0; j < x.size(3); ++j) x.set({0, head, i, j}, 0);
  }
  return x;
}

}  // namespace

TEST_CASE("the engine records what the library captures", "[tools][engine]") {
  EngineBench bench;
  const Answer answer = bench.call(json(record()));
  const Indices ids = bench.ids(text);
  const Seen seen = seen_by(bench.decoder, ids);
  CHECK(far_from(answer, 0, seen) < 2e-6);
  const Json& run = answer.json["runs"][0];
  CHECK(answer.json["texts"][0]["words"] == Json({"a", "b", "c", "a", "d"}));
  CHECK(answer.json["models"][0]["kind"] == "learned");
  // The ten likeliest words of each position.
  const Tensor shares = softmax(seen.logits);
  const auto words = numbers_at<std::int32_t>(answer, run, run["next"]["words"]);
  const auto chances = numbers_at<float>(answer, run, run["next"]["probabilities"]);
  REQUIRE(words.size() == 50);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = answer.json["words"][static_cast<std::size_t>(words[i])];
    const double right = double{shares.at({Index(i) / 10, bench.id(word.c_str())})};
    CHECK(std::abs(double{chances[i]} - right) < 2e-6);
    CHECK((i % 10 == 0 || chances[i] <= chances[i - 1]));
  }
  // What each layer would say.
  const Tensor lens = softmax(logit_lens(bench.decoder, ids));  // (3, 5, vocabulary)
  const auto final = numbers_at<float>(answer, run, run["lens"]["final"]);
  REQUIRE(final.size() == 15);
  for (std::size_t i = 0; i < final.size(); ++i) {
    const Index at = static_cast<Index>(i) % 5;
    const std::int32_t said = likeliest_token(seen.logits, at);
    CHECK(std::abs(double{final[i]} - double{lens.at({Index(i) / 5, at, said})}) < 2e-6);
  }
  // Of an encoder whole rows.
  const Answer both = bench.call(json(record("", "encoder")));
  const Json& other = both.json["runs"][0];
  const Seen there = seen_by(bench.encoder, ids);
  CHECK(apart(numbers_at<float>(both, other, other["layers"][1]["weights"]),
              there.parts.at("blocks.1.attention.weights").values()) < 2e-6);
}

TEST_CASE("the engine measures baselines if they are asked for", "[tools][engine]") {
  EngineBench bench;
  const Json plain = bench.ask(record())["runs"][0]["layers"][0];
  CHECK(!plain["patterns"][0][0].contains("untrained"));
  CHECK(plain["named"][0].is_null());
  Json asked = json(record("", "planted"));
  asked["baselines"] = true;
  const Json measured = bench.call(asked).json["runs"][0]["layers"][0];
  CHECK(measured["patterns"][0][0]["untrained"].size() == 2);
  CHECK(measured["named"][0] == "previous word");
  asked["baselines"] = false;
  CHECK(bench.call(asked).json["runs"][0]["layers"][0]["named"][0].is_null());
}

TEST_CASE("the engine records several models and texts, and untrained ones", "[tools][engine]") {
  EngineBench bench;
  const Answer answer = bench.call(json(
      "{'call': 'record', 'models': [{'model': 'decoder', 'name': 'mine'}, {'model': 'decoder', "
      "'untrained': true}], 'texts': ['a b', 'c d e']}"));
  CHECK(answer.json["models"][0]["name"] == "mine");
  CHECK(answer.json["models"][1]["kind"] == "untrained");
  REQUIRE(answer.json["runs"].size() == 4);
  const Transformer other = command::Model(bench.decoder).untrained(0).transformer();
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& run = answer.json["runs"][i];
    const Transformer& model = run["model"] == 0 ? bench.decoder : other;
    const char* read = run["text"] == 0 ? "a b" : "c d e";
    CHECK(far_from(answer, i, seen_by(model, bench.ids(read))) < 2e-6);
  }
}

TEST_CASE("the engine records a model without a head and with a held weight", "[tools][engine]") {
  EngineBench bench;
  const Indices ids = bench.ids(text);
  const Edits cut = {
      {"blocks.0.attention.heads", [](const Tensor& x) { return without_head(x, 1); }}};
  CHECK(far_from(bench.call(json(record(", 'cut': ['0.1']"))), 0,
                 seen_by(bench.decoder, ids, cut)) < 2e-6);
  // The others of the row are scaled alike, and all other rows stay.
  const Seen plain = seen_by(bench.decoder, ids);
  Tensor held = plain.parts.at("blocks.0.attention.weights").clone();
  const double rest = (1 - 0.6) / (1 - double{held.at({0, 1, 3, 2})});
  double sum = 0;
  for (Index key = 0; key < 5; ++key) {
    held.set({0, 1, 3, key}, key == 2 ? 0.6 : rest * double{held.at({0, 1, 3, key})});
    sum += double{held.at({0, 1, 3, key})};
  }
  CHECK(std::abs(sum - 1) < 1e-6);
  const Edits hold = {{"blocks.0.attention.weights", [held](const Tensor&) { return held; }}};
  const std::string asked = ", 'held': [{'link': '0.1:3>2', 'weight': 0.6}]";
  CHECK(far_from(bench.call(json(record(asked))), 0, seen_by(bench.decoder, ids, hold)) < 2e-6);
  // Position 0 sees only itself: the others of its row are 0 and stay so.
  Tensor alone = plain.parts.at("blocks.0.attention.weights").clone();
  alone.set({0, 0, 0, 0}, 0.25);
  const Edits first = {{"blocks.0.attention.weights", [alone](const Tensor&) { return alone; }}};
  const std::string single = ", 'held': [{'link': '0.0:0>0', 'weight': 0.25}]";
  CHECK(far_from(bench.call(json(record(single))), 0, seen_by(bench.decoder, ids, first)) < 2e-6);
  // Without a weight it is 0; 0 and 1 are weights.
  for (const char* weight : {"", ", 'weight': 0", ", 'weight': 1"}) {
    const Answer answer =
        bench.call(json(record(std::string(", 'held': [{'link': '1.0:2>1'") + weight + "}]")));
    const Json& run = answer.json["runs"][0];
    const auto weights = numbers_at<float>(answer, run, run["layers"][1]["weights"]);
    CHECK(weights.at(4) == (has(weight, "1") ? 1.0F : 0.0F));
    CHECK(std::abs(weights.at(3) + weights.at(4) + weights.at(5) - 1) < 1e-6F);
  }
}

TEST_CASE("the engine records a model with parts of another text", "[tools][engine]") {
  EngineBench bench;
  const Indices ids = bench.ids(text);
  const Seen there = seen_by(bench.decoder, bench.ids("f b e a c"));
  const auto row = [](const Tensor& x, const Tensor& y, Index at) {
    return concat({slice(x, -2, 0, at), slice(y, -2, at, at + 1), slice(x, -2, at + 1, x.size(-2))},
                  -2);
  };
  const Tensor heads = there.parts.at("blocks.1.attention.heads");
  const Edits edits = {
      {"embedding", [&](const Tensor& x) { return row(x, there.parts.at("embedding"), 0); }},
      {"blocks.0.output",
       [&](const Tensor& x) {
         const Tensor y = there.parts.at("blocks.0.output");
         return row(row(x, y, 2), y, 4);
       }},
      {"blocks.1.output",
       [&](const Tensor& x) { return row(x, there.parts.at("blocks.1.output"), 1); }},
      {"blocks.1.attention.heads",
       [&](const Tensor& x) { return concat({slice(x, 1, 0, 1), slice(heads, 1, 1, 2)}, 1); }}};
  const Seen right = seen_by(bench.decoder, ids, edits);
  const std::string from = "'from': 'f b e a c'";
  const std::string patched = ", 'patched': ['0@0', '1@2', '1@4', '2@1', '1.1'], " + from;
  const Answer answer = bench.call(json(record(patched)));
  CHECK(far_from(answer, 0, right) < 2e-6);
  CHECK(apart(right.logits.values(), seen_by(bench.decoder, ids).logits.values()) > 0.01);
  // A head that is cut, too, is cut: whatever it was before.
  const Edits cut = {
      {"blocks.0.attention.heads", [](const Tensor& x) { return without_head(x, 0); }}};
  CHECK(far_from(bench.call(json(record(", 'cut': ['0.0'], 'patched': ['0.0'], " + from))), 0,
                 seen_by(bench.decoder, ids, cut)) < 2e-6);
  // The text and the model are as before.
  CHECK(far_from(bench.call(json(record())), 0, seen_by(bench.decoder, ids)) < 2e-6);
}

TEST_CASE("changes that do not fit are refused", "[tools][engine]") {
  EngineBench bench;
  const auto said = [&](const std::string& changes, const char* model = "decoder") {
    const std::string why = bench.problem(record(", " + changes, model));
    CHECK(bench.problem("{'call': 'answers', 'text': '" + std::string(text) + "', 'model': '" +
                        model + "', " + changes + "}") == why);
    return why;
  };
  CHECK(said("'cut': ['2.0']") == "2.0: there is no layer 2, only 0 to 1.");
  CHECK(said("'cut': ['0.1', '0.2']") == "0.2: there is no head 2, only 0 to 1.");
  CHECK(said("'cut': ['2.attention']") == "2.attention: there is no layer 2, only 0 to 1.");
  CHECK(said("'cut': ['@5']") == "@5: there is no position 5, only 0 to 4.");
  CHECK(said("'cut': ['0.mlp']", "planted") == "0.mlp: this model has attention only.");
  CHECK(said("'cut': ['0.2:1>0']") == "0.2:1>0: there is no head 2, only 0 to 1.");
  CHECK(said("'cut': ['0.0:5>0']") == "0.0:5>0: there is no position 5, only 0 to 4.");
  CHECK(said("'cut': ['0.0:4>5']") == "0.0:4>5: there is no position 5, only 0 to 4.");
  CHECK(said("'cut': ['0.0:1>3']") == "0.0:1>3: position 1 does not see position 3 there.");
  CHECK(has(said("'cut': ['x']"), "'x'"));
  CHECK(said("'held': [{'link': '0.0', 'weight': 0}]") ==
        "a weight is held at a link, as in 1.0:7>4, not at 0.0.");
  CHECK(said("'held': [{'link': '0.0:2>1', 'weight': 1.5}]") ==
        "0.0:2>1: a weight is between 0 and 1, not 1.5.");
  CHECK(has(said("'held': [{'link': '0.0:2>1', 'weight': -0.25}]"), "not -0.25."));
  CHECK(said("'held': [{'link': '0.0:2>3', 'weight': 0}]") ==
        "0.0:2>3: position 2 does not see position 3 there.");
  const std::string from = ", 'from': 'f b e a c'";
  CHECK(said("'patched': ['2.0']" + from) == "patch: there is no layer 2, only 0 to 1.");
  CHECK(said("'patched': ['0.2']" + from) == "patch: there is no head 2, only 0 to 1.");
  CHECK(said("'patched': ['3@0']" + from) == "patch: there is no layer 3, only 0 to 2.");
  CHECK(said("'patched': ['0@5']" + from) == "patch: there is no position 5, only 0 to 4.");
  for (const char* wrong : {"0", "", "x.0", "0.x", "0@", "@1", "0.0.0", "1@2@3", "-1@2", "0.-1"}) {
    CHECK((has(said("'patched': ['" + std::string(wrong) + "']" + from), "is no place to patch") ||
           has(wrong, "-")));
  }
  CHECK(said("'patched': ['0.0'], 'from': 'a b'") ==
        "patch: the texts have 5 and 2 words: make them equally long.");
  CHECK(has(said("'patched': ['0.0'], 'from': 'a b c d z'"), "'z'"));
  CHECK(said("'patched': ['0.0']") == "the engine wants a text as 'from'.");
  CHECK(has(bench.problem("{'call': 'record', 'models': [{'model': 'decoder'}], 'texts': ['q']}"),
            "'q'"));
}
