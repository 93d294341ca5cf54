// The commands that ask which parts of a model make its answer: on a model whose truth is known.
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/analysis/circuit.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/analysis/lens.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

using Json = nlohmann::json;

const Vocabulary vocabulary(split_words("a b c d e f"));

// A folder with the planted model as a checkpoint.
struct Bench {
  TemporaryFolder folder;
  Transformer model = planted_induction(vocabulary.size());

  Bench() {
    Batch batch;
    batch.inputs = vocabulary.encode(split_words("a b c"));
    batch.inputs.shape = {1, 3};
    batch.targets = vocabulary.encode(split_words("b c d"));
    batch.targets.shape = {1, 3};
    write_transformer(folder / "m", model, to_metadata(vocabulary, batch));
  }
  Result run(const std::string& arguments) const { return tapestry_in(folder / "", arguments); }
  Json json(const std::string& name) const { return Json::parse(content(folder / name)); }
  std::string problem(const std::string& arguments) const {
    const Result result = run(arguments);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(all_in(folder / "") == std::vector<std::string>{"m"});
    return result.err;
  }
};

Indices ids(const char* text) { return vocabulary.encode(split_words(text)); }

std::int32_t id(const char* word) { return vocabulary.id(word); }

// Largest difference of a table in JSON from the same numbers computed here.
double apart(const Json& table, const Tensor& values) {
  double most = 0;
  REQUIRE(std::ssize(table["values"]) == values.size(0));
  for (Index i = 0; i < values.size(0); ++i) {
    const Json& row = table["values"][static_cast<std::size_t>(i)];
    REQUIRE(std::ssize(row) == values.size(1));
    for (Index j = 0; j < values.size(1); ++j) {
      const double written = row[static_cast<std::size_t>(j)].get<double>();
      most = std::max(most, std::abs(written - double{values.at({i, j})}));
    }
  }
  return most;
}

}  // namespace

TEST_CASE("attribute prints, draws and writes what the library computes", "[phase7][tools]") {
  const Bench bench;
  const Result said = bench.run(
      "attribute --checkpoint m --text 'a b c a' --token b --against c --json o.json --npy o.npy");
  CHECK(wrong(said) == "");
  const Attribution right =
      attribute(bench.model, ids("a b c a"), {.token = id("b"), .against = id("c")});
  const Json json = bench.json("o.json");
  CHECK(json["question"] == "logit(b) - logit(c) after a@3");
  CHECK(apart(json["tables"][0], right.heads) < 1e-6);
  CHECK(difference_to(read_npy(bench.folder / "o.npy"), right.heads, 1e-6) == "");
  CHECK(std::abs(json["answer"].get<double>() - right.difference) < 1e-5);
  CHECK(has(said.out, "add up to"));
  CHECK(all_in(bench.folder / "out/plots") == std::vector<std::string>{"attribute.png"});
  // Without tokens, the likeliest and the next likeliest.
  CHECK(
      has(bench.run("attribute --checkpoint m --text 'a b c a'").out, "answer: logit(b) - logit("));
}

TEST_CASE("cut finds the planted heads", "[phase7][tools]") {
  const Bench bench;
  const Result each = bench.run("cut --checkpoint m --text 'a b c a' --json o.json --format svg");
  CHECK(wrong(each) == "");
  const Question question{.token = id("b")};
  const Json json = bench.json("o.json");
  CHECK(json["question"] == "ln p(b) after a@3");
  CHECK(apart(json["tables"][0], cut_heads(bench.model, ids("a b c a"), question)) < 1e-5);
  CHECK(apart(json["tables"][1], cut_layers(bench.model, ids("a b c a"), question)) < 1e-5);
  CHECK(json["tables"][2]["rows"] == Json({"a@0", "b@1", "c@2", "a@3"}));
  CHECK(json["tables"][0]["values"][0][0] > 0.5);  // the previous-token head
  CHECK(json["tables"][0]["values"][1][0] > 0.5);  // the induction head
  CHECK(std::abs(json["tables"][0]["values"][0][1].get<double>()) < 0.1);
  CHECK(all_in(bench.folder / "out/plots") == std::vector<std::string>{"cut.svg"});

  const Result named = bench.run(
      "cut 0.0 1.0 --checkpoint m --text 'a b c a' --draws 3 --seed 4 --json n.json --out p");
  CHECK(wrong(named) == "");
  const Json falls = bench.json("n.json")["tables"][0];
  CHECK(falls["rows"] == Json({"0.0", "1.0", "together"}));
  const std::vector<ModelPart> both = {parse_part("0.0"), parse_part("1.0")};
  Random random(4);
  const RandomCuts right = cut_at_random(bench.model, ids("a b c a"), question, both, 3, random);
  CHECK(std::abs(falls["values"][2][0].get<double>() - right.fall) < 1e-5);
  CHECK(std::abs(falls["values"][2][1].get<double>() - right.spread.mean) < 1e-5);
  CHECK(falls["values"][2][3] == 0);
  CHECK(has(named.out, "together"));
}

TEST_CASE("patch finds where the other text's answer comes from", "[phase7][tools]") {
  const Bench bench;
  const Result said =
      bench.run("patch --checkpoint m --from 'a b c a' --text 'a d c a' --layer 1 --json o.json");
  CHECK(wrong(said) == "");
  const Question question{.token = id("b"), .against = id("d")};
  const Json json = bench.json("o.json");
  CHECK(json["question"] == "logit(b) - logit(d) after a@3");
  const Patches right = patch(bench.model, ids("a b c a"), ids("a d c a"), question);
  CHECK(apart(json["tables"][0], transpose(right.residual)) < 1e-5);
  CHECK(apart(json["tables"][1], right.heads) < 1e-5);
  const Tensor links = patch_links(bench.model, ids("a b c a"), ids("a d c a"), question, 1);
  CHECK(apart(json["tables"][2], reshape(links, {8, 4})) < 1e-5);
  CHECK(json["tables"][0]["rows"][1] == "d←b@1");
  CHECK(json["tables"][0]["values"][1][0] > 0.9);  // the word itself
}

TEST_CASE("lens tells what the model would say after each layer", "[phase7][tools]") {
  const Bench bench;
  std::ofstream(bench.folder / "text") << [] {
    std::string text;
    Random random(5);
    for (int i = 0; i < 400; ++i) text += std::string(1, "abcdef"[random.randint(6)]) + " ";
    return text;
  }();
  const Result said =
      bench.run("lens --checkpoint m --text 'a b c a' --fit text --json o.json --npy o.npy");
  CHECK(wrong(said) == "");
  const Json json = bench.json("o.json");
  const Tensor logits = logit_lens(bench.model, ids("a b c a"));  // (3, 4, vocab_size)
  const Json& plain = json["tables"][0];
  CHECK(plain["rows"] == Json({"embedding", "layer 0", "layer 1"}));
  for (Index i = 0; i < 3; ++i) {
    const Tensor at = squeeze(slice(logits, 0, i, i + 1), 0);
    const double right = double{answer(at, {.token = id("b")}).item()};
    CHECK(std::abs(plain["values"][static_cast<std::size_t>(i)][0].get<double>() - right) < 1e-5);
  }
  CHECK(plain["values"][2][1] == 1);  // rank: it is what the model says
  CHECK(plain["values"][1][1] > 1);   // and not yet what it would say after layer 0
  CHECK(json["tables"][1]["values"][2][0] == plain["values"][2][0]);  // the last has no map
  CHECK(json["tables"][1]["values"][0][0] != plain["values"][0][0]);
  CHECK(has(said.out, "Fitted on "));
  const Json& drawn = json["tables"][2]["values"];
  CHECK(std::abs(drawn[2][3].get<double>() - std::exp(plain["values"][2][0].get<double>())) < 1e-5);
  CHECK(read_npy(bench.folder / "o.npy").shape() == Shape{3, 2});
  CHECK(all_in(bench.folder / "out/plots") == std::vector<std::string>{"lens.png"});
}

TEST_CASE("circuit shows the planted tables", "[phase7][tools]") {
  const Bench bench;
  const Result said = bench.run(
      "circuit --checkpoint m --layer 1 --head 0 --from 0.0 --text 'a b c' --json o.json");
  CHECK(wrong(said) == "");
  const Json json = bench.json("o.json");
  const Circuit head = circuit(bench.model, 1, 0), before = circuit(bench.model, 0, 0);
  const Json &scores = json["tables"][0], &logits = json["tables"][1];
  CHECK(scores["rows"] == Json({"a", "b", "c"}));
  CHECK(apart(scores, token_scores(bench.model, head, ids("a b c"), before)) < 1e-4);
  CHECK(apart(logits, token_logit_table(bench.model, head, ids("a b c"))) < 1e-4);
  CHECK(scores["values"][0][0] > scores["values"][0][1]);  // a key behind a copy of the word
  CHECK(logits["values"][1][1] > logits["values"][1][0]);  // and its word is written
  const Json& built = json["tables"][3];
  CHECK(built["rows"] == Json({"0.0", "0.1"}));
  CHECK(built["values"][0][1] > built["values"][1][1]);  // by its keys, on the planted head
  CHECK(has(said.out, "random matrices of these shapes"));
  CHECK(all_in(bench.folder / "out/plots") ==
        std::vector<std::string>{"circuit_ov.png", "circuit_qk.png"});
  CHECK(
      has(bench.run("circuit --checkpoint m").out, "a head of the first layer builds on no other"));
}

TEST_CASE("an encoder is asked for a hidden word", "[phase7][tools]") {
  const Bench bench;
  Random random(2);
  const Transformer encoder({.vocab_size = vocabulary.size(),
                             .max_length = 6,
                             .d_model = 8,
                             .num_heads = 2,
                             .num_layers = 1,
                             .is_causal = false,
                             .initializer = init::lecun_normal},
                            random);
  write_transformer(
      bench.folder / "e", encoder,
      to_metadata(vocabulary, masked_lm_batch(vocabulary, {split_words("a b c")}, random)));
  const Result said =
      bench.run("cut 0.0 --checkpoint e --text 'a <mask> c' --token b --json o.json");
  CHECK(wrong(said) == "");
  CHECK(bench.json("o.json")["question"] == "ln p(b) at <mask>@1");
  CHECK(has(bench.run("lens --checkpoint e --text 'a b' --position 0").out, " at a@0 = "));
  const Result refused = bench.run("attribute --checkpoint e --text 'a b c'");
  CHECK(refused.status == 1);
  CHECK(has(refused.err, "put <mask> into the text, or name a --position."));
}

TEST_CASE("questions that cannot be answered are refused in one line", "[phase7][tools]") {
  const Bench bench;
  const std::string cut = "cut --checkpoint m --text 'a b c a' ";
  CHECK(has(bench.problem(cut + "2.0"), "0 to 1"));
  CHECK(has(bench.problem(cut + "0.2"), "0 to 1"));
  CHECK(has(bench.problem(cut + "@4"), "0 to 3"));
  CHECK(has(bench.problem(cut + "head"), "2.3:7>4"));
  CHECK(has(bench.problem(cut + "--token z"), "'z' is none of the model's words"));
  CHECK(has(bench.problem(cut + "--position 4"), "the text's are 0 to 3"));
  CHECK(has(bench.problem("patch --checkpoint m --text 'a b' --from 'a b c'"),
            "--text has 2 words, --from 3"));
  CHECK(has(bench.problem("patch --checkpoint m --text 'a b c a' --from 'a b c a'"),
            "both texts make 'b' the likeliest"));
  const std::string same =
      bench.problem("patch --checkpoint m --text 'a b c a' --from 'a b c a' --token d --against e");
  CHECK(has(same, "--from and --text give the same answer, logit(d) - logit(e) after a@3 = "));
  CHECK(has(same, "Name two tokens about which they disagree with --token and --against"));
  CHECK(has(bench.problem("patch --checkpoint m --text 'a d c a' --from 'a b c a' --layer 2"),
            "no layer 2"));
  CHECK(has(bench.problem("attribute --checkpoint m --text 'a b' --token a --against y"), "'y'"));
  std::filesystem::create_directory(bench.folder / "full");
  const Result folder_named = bench.run("cut --checkpoint m --text 'a b' --json full");
  CHECK(folder_named.out == "");
  CHECK(has(folder_named.err, "--json 'full' is a folder: name a file."));
  CHECK(has(bench.run("circuit --checkpoint m --npy m/x.npy").err, "'m' is no folder."));
  std::filesystem::remove(bench.folder / "full");
  CHECK(has(bench.problem("circuit --checkpoint m --layer 2"), "no layer 2"));
  CHECK(has(bench.problem("circuit --checkpoint m --layer 1 --text a --from 1.0"), "earlier"));
  CHECK(has(bench.problem("circuit --checkpoint m --layer 1 --text a --from @1"),
            "must name a head"));
  CHECK(has(bench.problem("lens --checkpoint m --text 'a b' --fit nothing"), "nothing"));
  CHECK(has(bench.problem("lens --checkpoint m --text 'a b' --fit m"), "UTF-8"));
  const std::string folder = "attribute --model '" + (small_desk() / "m").string() + "' --text ab ";
  CHECK(has(bench.problem(folder + "--token aé"), "'aé' is not one token of the model, but: "));
  CHECK(bench.run(folder + "--token é --against ␣").status == 0);
}
