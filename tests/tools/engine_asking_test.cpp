// The explorer's engine: what becomes of a prediction without parts, or with parts of another text.
#include "engine_bench.hpp"
#include "model.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr const char* text = "a b c a d";

std::string asked(const std::string& call, const std::string& fields,
                  const std::string& model = "decoder") {
  return "{'call': '" + call + "', 'model': '" + model + "', 'text': '" + text + "', " + fields +
         "}";
}

std::vector<ModelPart> parts_of(const std::vector<std::string>& names) {
  std::vector<ModelPart> parts;
  for (const std::string& name : names) parts.push_back(parse_part(name));
  return parts;
}

double number(const Json& value) { return value.get<double>(); }

bool is_near(const Json& value, double right) { return std::abs(number(value) - right) < 1e-5; }

}  // namespace

TEST_CASE("the engine's cuts are the library's", "[tools][engine]") {
  EngineBench bench;
  for (const char* name : {"decoder", "encoder"}) {
    const Transformer& model = name[0] == 'd' ? bench.decoder : bench.encoder;
    const Indices ids = bench.ids(text);
    for (const Index position : {2, 4}) {
      const Question question{.position = position, .token = likeliest_token(model(ids), position)};
      for (const std::vector<std::string>& names :
           std::vector<std::vector<std::string>>{{"0.0"},
                                                 {"1.1"},
                                                 {"0.attention"},
                                                 {"1.attention"},
                                                 {"0.mlp"},
                                                 {"1.mlp"},
                                                 {"0.0:1>0"},
                                                 {"1.1:2>0"},
                                                 {"1.0:4>3"},
                                                 {"@1"},
                                                 {"@2"},
                                                 {"0.0", "1.1"},
                                                 {"0.1", "0.0:1>0", "1.mlp", "@1", "@0"}}) {
        const double fall = cut(model, ids, question, parts_of(names));
        const Json words = bench.ask(asked(
            "answers", "'position': " + std::to_string(position) + ", 'cut': " + Json(names).dump(),
            name))["words"];
        CAPTURE(name, position, names);
        CHECK(words[0]["word"] == bench.vocabulary.word(question.token));
        CHECK(is_near(words[0]["before"], double{answer(model(ids), question).item()}));
        CHECK(std::abs(number(words[0]["before"]) - number(words[0]["after"]) - fall) < 2e-6);
      }
    }
  }
}

TEST_CASE("the engine names the word that changes make the likeliest", "[tools][engine]") {
  EngineBench bench;
  const std::string ask = "{'call': 'answers', 'model': 'planted', 'text': 'a b c a'";
  const Json plain = bench.ask(ask + "}");
  CHECK(!plain.contains("share"));
  REQUIRE(plain["words"].size() == 1);
  CHECK(plain["words"][0]["word"] == "b");
  CHECK(plain["words"][0]["before"] == plain["words"][0]["after"]);
  const Json changed = bench.ask(ask + ", 'patched': ['0@1'], 'from': 'a d c a'}");
  REQUIRE(changed["words"].size() == 2);
  CHECK(changed["words"][0]["word"] == "b");
  CHECK(changed["words"][1]["word"] == "d");
  CHECK(number(changed["words"][0]["before"]) > -0.1);
  CHECK(number(changed["words"][0]["after"]) < -5);
  CHECK(number(changed["words"][1]["before"]) < -5);
  CHECK(number(changed["words"][1]["after"]) > -0.1);
}

TEST_CASE("the engine's share of a patch is the library's effect", "[tools][engine]") {
  EngineBench bench;
  const Indices own = bench.ids("a b c a"), there = bench.ids("a d c a");
  const Question question{.position = 3, .token = bench.id("d"), .against = bench.id("b")};
  const Patches right = patch(bench.planted, there, own, question);
  const auto share = [&](const std::string& places) {
    return bench.ask(
        "{'call': 'answers', 'model': 'planted', 'text': 'a b c a', 'from': 'a d c "
        "a', 'patched': [" +
        places + "], 'position': 3}")["share"];
  };
  for (Index layer = 0; layer < 3; ++layer) {
    for (Index at = 0; at < 4; ++at) {
      const Json said = share("'" + std::to_string(layer) + "@" + std::to_string(at) + "'");
      CHECK(is_near(said["share"], double{right.residual.at({layer, at})}));
      CHECK(said["token"] == "d");
      CHECK(said["against"] == "b");
      CHECK(is_near(said["clean"], right.clean));
      CHECK(is_near(said["corrupted"], right.corrupted));
    }
  }
  for (Index head = 0; head < 4; ++head) {
    const Json said = share("'" + std::to_string(head / 2) + "." + std::to_string(head % 2) + "'");
    CHECK(is_near(said["share"], double{right.heads.at({head / 2, head % 2})}));
  }
  CHECK(is_near(share("'0@0', '0@1', '0@2', '0@3'")["share"], 1));
  // Both texts make the same word the likeliest.
  const Json same = bench.ask(
      "{'call': 'answers', 'model': 'planted', 'text': 'a b c a', 'from': "
      "'a b d a', 'patched': ['0@1']}");
  CHECK(same["share"].is_null());
}

TEST_CASE("the engine's effects of parts are the library's falls", "[tools][engine]") {
  EngineBench bench;
  const Indices ids = bench.ids(text);
  const Question question{.position = 4, .token = bench.id("b"), .against = bench.id("c")};
  const Json said = bench.ask(asked("effects",
                                    "'token': 'b', 'against': 'c', 'position': 4, 'seed': 5, "
                                    "'draws': 4, 'parts': ['0.0', '1.mlp']"));
  CHECK(said["token"] == "b");
  CHECK(is_near(said["answer"], double{answer(bench.decoder(ids), question).item()}));
  const auto check = [&](const Json& given, const std::vector<std::string>& names) {
    Random random(5);
    const RandomCuts right =
        cut_at_random(bench.decoder, ids, question, parts_of(names), 4, random);
    CHECK(is_near(given["fall"], right.fall));
    CHECK(is_near(given["fall"], cut(bench.decoder, ids, question, parts_of(names))));
    CHECK(is_near(given["random_mean"], right.spread.mean));
    CHECK(is_near(given["random_deviation"], right.spread.deviation));
    CHECK(given["as_far"] == right.as_far);
  };
  REQUIRE(said["each"].size() == 2);
  check(said["each"][0], {"0.0"});
  check(said["each"][1], {"1.mlp"});
  check(said["together"], {"0.0", "1.mlp"});
  const Json one = bench.ask(asked("effects", "'parts': ['0.1']"));
  CHECK(one["together"] == one["each"][0]);
  // 20 draws with seed 1, of the likeliest word, at the last position.
  const Question likeliest{.token = likeliest_token(bench.decoder(ids))};
  Random random(1);
  const RandomCuts right =
      cut_at_random(bench.decoder, ids, likeliest, parts_of({"0.1"}), 20, random);
  CHECK(one["token"] == bench.vocabulary.word(likeliest.token));
  CHECK(is_near(one["together"]["random_mean"], right.spread.mean));
  // There are no four other heads.
  const Json all = bench.ask(asked("effects", "'parts': ['0.0', '0.1', '1.0', '1.1']"));
  CHECK(is_near(all["together"]["fall"],
                cut(bench.decoder, ids, likeliest, parts_of({"0.0", "0.1", "1.0", "1.1"}))));
  CHECK(has(all["together"]["no_others"], "head"));
  CHECK(!all["together"].contains("random_mean"));
  CHECK(all["each"][3].contains("random_mean"));
}

TEST_CASE("without parts the engine cuts each of them", "[tools][engine]") {
  EngineBench bench;
  const Indices ids = bench.ids(text);
  const Json said = bench.ask(asked("effects", "'position': 3"));
  const Question question{.position = 3, .token = likeliest_token(bench.decoder(ids), 3)};
  const PartFalls right = cut_each(bench.decoder, ids, question);
  CHECK(said["token"] == bench.vocabulary.word(question.token));
  CHECK(apart(said["heads"], right.heads) < 2e-6);
  CHECK(apart(said["layers"], right.layers) < 2e-6);
  CHECK(apart(said["positions"], right.positions) < 2e-6);
  CHECK(!said.contains("each"));
  // An untrained model of its sizes.
  const Transformer other = command::Model(bench.decoder).untrained(0).transformer();
  const Json untrained = bench.ask(asked("effects", "'untrained': true, 'token': 'b'"));
  CHECK(apart(untrained["heads"], cut_heads(other, ids, {.token = bench.id("b")})) < 2e-6);
}

TEST_CASE("the engine's patches are the library's", "[tools][engine]") {
  EngineBench bench;
  const Indices own = bench.ids(text), there = bench.ids("f b e a c");
  const Json said =
      bench.ask(asked("patch", "'from': 'f b e a c', 'token': 'b', 'against': 'c', 'position': 3"));
  const Patches right = patch(bench.decoder, there, own,
                              {.position = 3, .token = bench.id("b"), .against = bench.id("c")});
  CHECK(said["token"] == "b");
  CHECK(is_near(said["clean"], right.clean));
  CHECK(is_near(said["corrupted"], right.corrupted));
  CHECK(apart(said["residual"], right.residual) < 1e-5);
  CHECK(apart(said["heads"], right.heads) < 1e-5);
  // Without a token: the likeliest one after the text that parts come from.
  const Json likeliest =
      bench.ask("{'call': 'patch', 'model': 'planted', 'text': 'a b c a', 'from': 'a d c a'}");
  CHECK(likeliest["token"] == "d");
  CHECK(number(likeliest["residual"][1]) > 0.9);
}

TEST_CASE("questions that the engine cannot answer are refused", "[tools][engine]") {
  EngineBench bench;
  CHECK(bench.problem(asked("effects", "'token': 'z'")) == "'z' is not one of the model's words.");
  CHECK(has(bench.problem(asked("effects", "'against': 'y', 'token': 'a'")), "'y'"));
  CHECK(has(bench.problem(asked("effects", "'position': 5, 'token': 'a'")), "position"));
  CHECK(has(bench.problem(asked("effects", "'parts': ['2.0']")), "0 to 1"));
  CHECK(has(bench.problem(asked("effects", "'parts': ['head']")), "2.3:7>4"));
  CHECK(bench.problem(asked("effects", "'parts': []", "none")) ==
        "the engine has no model \"none\".");
  CHECK(has(bench.problem(asked("answers", "'position': 9")), "position"));
  CHECK(has(bench.problem("{'call': 'answers', 'model': 'decoder', 'text': ''}"), "empty"));
  CHECK(has(bench.problem(asked("patch", "'from': 'a b'")), "2"));
  CHECK(bench.problem(asked("patch", "'token': 'a'")) == "the engine wants a text as 'from'.");
  CHECK(has(bench.problem(asked("patch", "'from': '" + std::string(text) + "'")), "answer"));
  // A model that says no words.
  Batch batch;
  batch.inputs = Indices({1, 2}, bench.ids("a b").values);
  batch.targets = Indices({1, 2}, bench.ids("f f").values);
  write_transformer(bench.folder / "mute", bench.encoder, to_metadata(bench.vocabulary, batch));
  bench.ask("{'call': 'open', 'model': 'mute', 'file': '" + bench.file("mute") + "'}");
  for (const char* call : {"effects", "answers", "patch"}) {
    CHECK(bench.problem(asked(call, "'from': 'a b c a d'", "mute")) ==
          "this model says no words: cuts and patches need one that does.");
  }
}
