// The commands that look into models, with folders of models.
#include <fstream>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/format.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

std::string problem(const std::string& arguments) {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", arguments);
  CHECK(result.status == 1);
  CHECK(result.out == "");
  CHECK(all_in(folder / "").empty());
  return result.err;
}

std::string model() { return "--model '" + (small_desk() / "m").string() + "' "; }

}  // namespace

TEST_CASE("analyze reads a folder, with the token in front that its tokenizer puts there",
          "[phase7][tools]") {
  const TemporaryFolder folder;
  const Result said = tapestry_in(folder / "", "analyze " + model() + "--text 'ab a ab'");
  CHECK(wrong(said) == "");
  CHECK(has(unfolded(said.out),
            "1 layer, 2 heads each, width 8, vocabulary of 264 tokens, decoder, input with <s>"));
  CHECK(has(said.out, "text:  <s> ␣ ab ␣ a ␣ ab\n"));
  CHECK(has(said.out, "\nnext: "));
  CHECK(all_in(folder / "out/plots") ==
        std::vector<std::string>{"analyze_flow.png", "analyze_grid.png", "analyze_heatmap.png"});
}

TEST_CASE("analyze shows one pattern of every head", "[phase7][tools]") {
  const TemporaryFolder folder;
  const std::string ask = "analyze " + model() + "--text 'ab a b ab a b ab' --pattern ";
  const Result said = tapestry_in(folder / "", ask + "induction");
  CHECK(wrong(said) == "");
  CHECK(has(said.out, "scores of the pattern \"induction\", and the name of each head"));
  for (const char* head : {"    0    0   ", "    0    1   "}) {
    const std::size_t at = said.out.rfind(head);
    CHECK(has(said.out.substr(at, 35), "none"));
  }
  CHECK(has(tapestry_in(folder / "", ask + "induction --head 1").err,  // there is one layer
            "--pattern is for several heads"));
  const Result refused = tapestry_in(folder / "", ask + "inductions");
  CHECK(refused.status == 2);
  CHECK(has(refused.err, "'inductions' is not a pattern; there are self, previous"));
}

TEST_CASE("why tells the arithmetic of a folder's model, whose heads share keys",
          "[phase7][tools]") {
  const Transformer llama = read_model(small_desk() / "m");
  const Indices ids = read_tokenizer(small_desk() / "m").encode("ab a ab");
  Tensor weights;
  {
    const Capture seen;
    llama(ids, {}, {.need_weights = true});
    weights = seen["blocks.0.attention.weights"].contiguous();  // (1, heads, length, length)
  }
  CHECK(llama.options.num_key_value_heads == 1);
  const Index last = ids.shape[0] - 1;
  for (Index head = 0; head < 2; ++head) {
    const std::string at = std::to_string(last);
    const Result said =
        tapestry_in(small_desk(), "why " + model() + "--text 'ab a ab' --query " + at +
                                      " --key 1 --head " + std::to_string(head));
    CHECK(wrong(said) == "");
    const double weight = double{weights.at({0, head, last, 1})};
    CHECK(has(said.out, formatted(" is %.4f.\n", weight)));
    const std::string line = said.out.substr(said.out.find("\n> "));  // of softmax
    CHECK(has(line.substr(0, 90), formatted("%.4f      %8.4f", weight, weight)));
  }
  CHECK(has(problem("why " + model() + "--text 'ab a ab' --query b --key 0"), "not in the text"));
  CHECK(has(problem("why " + model() + "--text 'ab a ab' --query ab --key 0"),
            "at several positions"));
}

TEST_CASE("plot draws the weights of a folder", "[phase7][tools]") {
  const TemporaryFolder folder;
  const Result all = tapestry_in(folder / "", "plot " + model());
  CHECK(wrong(all) == "");
  CHECK(has(all.out, "model.embed_tokens.weight: "));
  const Result one =
      tapestry_in(folder / "", "plot " + model() + "--tensor model.norm.weight --out one");
  CHECK(wrong(one) == "");
  CHECK(all_in(folder / "one") == std::vector<std::string>{"plot_model.norm.weight.png"});
  CHECK(has(problem("plot " + model() + "--tensor nothing"), "nothing"));
}

TEST_CASE("what a folder cannot answer is refused", "[phase7][tools]") {
  CHECK(has(problem("analyze --text a"), "--checkpoint is required, or --model"));
  CHECK(has(problem("analyze " + model() + "--text ''"), "the text is empty"));
  CHECK(has(problem("analyze " + model() + "--text a --layer 1"), "no layer 1"));
  CHECK(has(problem("analyze " + model() + "--text '" + std::string(40, 'b') + "'"),
            "tokens, <s> included, but at most"));
  CHECK(has(problem("analyze --model nowhere --text a"), "nowhere"));
  CHECK(has(problem("plot"), "FILE is required, or --model"));
}
