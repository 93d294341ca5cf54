// `tapestry compare`: a folder against activations, with and without a mistake.
#include "catch.hpp"
#include "process.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace tapestry;

namespace {

const char* const config =
    R"({"model_type":"gpt2","vocab_size":11,"n_positions":12,"n_embd":12,"n_layer":2,"n_head":3})";

// A folder "m" and its activations in "expected".
void write_model_and_activations(const TemporaryFolder& folder) {
  Random random(3);
  TransformerOptions options = model_config(config).options;
  options.initializer = [](const Shape& shape, Random& r) { return r.normal(shape, 0, 0.7); };
  const Transformer model(options, random);
  write_model(folder / "m", model, "gpt2");
  const Capture seen;
  const Tensor logits = model(Indices({5}, {1, 2, 3, 4, 5}), {}, {.need_weights = true});
  write_safetensors(folder / "expected", {{"ids", Tensor({5}, {1, 2, 3, 4, 5})},
                                          {"weights.0", seen["blocks.0.attention.weights"]},
                                          {"weights.1", seen["blocks.1.attention.weights"]},
                                          {"other\x1b[31m", Tensor::ones({2})},
                                          {"logits", logits}});
}

void replace(const std::filesystem::path& path, const std::string& one, const std::string& other) {
  std::string text = content(path);
  text.replace(text.find(one), one.size(), other);
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("tapestry compare says that all agrees", "[phase7][tools]") {
  const TemporaryFolder folder;
  write_model_and_activations(folder);
  const Result made = tapestry_in(folder / "", "compare m expected --verbose");
  CHECK(wrong(made) == "");
  CHECK(has(made.out, "m: gpt2, 2 layers of 3 heads, width 12, 11 words"));
  CHECK(has(made.out, "passed over: none"));
  CHECK(has(made.out, "nothing of the name: 'other?[31m'"));
  CHECK(has(made.out, "All agrees."));
  CHECK(!has(made.out, "departs"));
}

TEST_CASE("tapestry compare names the first departure and its cause", "[phase7][tools]") {
  const TemporaryFolder folder;
  write_model_and_activations(folder);
  replace(folder / "m/config.json", "gelu_new", "relu");
  const Result one = tapestry_in(folder / "", "compare m expected");
  CHECK(one.status == 1);
  CHECK(widest(one.out) <= 80);
  CHECK(one.err == "tapestry: the model departs from expected at weights.1.\n");
  CHECK(has(one.out, "The first to depart is weights.1, blocks.1.attention.weights: at"));
  CHECK(has(one.out, "All agrees with activation gelu_tanh instead of relu."));
  replace(folder / "m/config.json", "\"scale_attn_weights\": true",
          "\"scale_attn_weights\": false");
  const Result two = tapestry_in(folder / "", "compare m expected");
  CHECK(has(two.out, "The first to depart is weights.0"));
  CHECK(has(two.out, "None alone makes all agree."));
  CHECK(has(two.out, "All agrees with activation gelu_tanh instead of relu; and scores scaled by"));
}

TEST_CASE("tapestry compare shows small numbers, too", "[phase7][tools]") {
  const TemporaryFolder folder;
  write_model_and_activations(folder);
  write_safetensors(folder / "small", {{"ids", Tensor({5}, {1, 2, 3, 4, 5})},
                                       {"logits", Tensor::full({5, 11}, 1e-9)}});
  const Result made = tapestry_in(folder / "", "compare m small");
  CHECK(has(made.out, "1e-09"));
}

TEST_CASE("tapestry compare refuses what it cannot open, on one line", "[phase7][tools]") {
  const TemporaryFolder folder;
  write_model_and_activations(folder);
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Result made = tapestry_in(folder / "", "compare " + arguments);
    const bool one_line = std::count(made.err.begin(), made.err.end(), '\n') == 1;
    return made.status != 0 && one_line && has(made.err, words) ? "" : made.err;
  };
  CHECK(refused("none expected", "none is no folder") == "");
  CHECK(refused("m none", "none: there is no such file") == "");
  CHECK(refused("m m/config.json", "config.json") == "");
  CHECK(refused("m", "EXPECTED is required") == "");
  replace(folder / "m/config.json", "\"n_embd\": 12", "\"n_embd\": 24");
  CHECK(refused("m expected", "(11, 12), but config.json asks for (11, 24)") == "");
}
