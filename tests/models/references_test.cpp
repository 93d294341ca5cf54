// Models of other programs, with the activations that those programs computed.
#include <algorithm>

#include "catch.hpp"
#include "models.hpp"
#include "ops/expect.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

const char* const folders[] = {
    "stories260K",     "gpt2-random",  "gpt2-random-f16", "gpt_neo-random",
    "gpt_neox-random", "qwen2-random", "bert-random",     "qwen2-random-bf16-shards"};

Indices ids_of(const Safetensors& expected) {
  const std::vector<real> numbers = expected["ids"].values();
  return Indices(expected["ids"].shape(),
                 std::vector<std::int32_t>(numbers.begin(), numbers.end()));
}

}  // namespace

TEST_CASE("logits and weights are those of other programs", "[phase7][models]") {
  for (const char* name : folders) {
    const auto folder = model_folder(name);
    if (!folder) return;
    const Transformer model = read_model(*folder);
    const Safetensors expected = read_safetensors(*folder / "expected.safetensors");
    const Capture seen;
    const Tensor logits = model(ids_of(expected), {}, {.need_weights = true});
    const double off =
        largest_difference(logits, expected["logits"]) / max(abs(expected["logits"])).item();
    CAPTURE(name, off);
    CHECK(off < 2e-4);
    double worst = 0;
    for (Index i = 0; i < model.options.num_layers; ++i) {
      const std::string layer = std::to_string(i);
      const Tensor weights = seen["blocks." + layer + ".attention.weights"];
      const Tensor& wanted = expected["weights." + layer];
      worst = std::max(worst, largest_difference(reshape(weights, wanted.shape()), wanted));
    }
    CAPTURE(worst);
    CHECK(worst < 1e-5);
  }
}
