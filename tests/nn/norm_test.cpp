#include "tapestry/nn/norm.hpp"

#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"

using namespace tapestry;

TEST_CASE("a norm layer is the layer of its kind", "[phase2][nn]") {
  const Tensor x = random_tensor({2, 3, 6});
  const NormLayer centred(NormKind::layer, 6, 0.1), scaled(NormKind::rms, 6, 0.1);
  CHECK(same_bits(centred(x), LayerNorm(6, 0.1)(x)));
  CHECK(same_bits(scaled(x), RmsNorm(6, 0.1)(x)));
  CHECK(same_bits(NormLayer(NormKind::rms, 6)(x), RmsNorm(6)(x)));
  CHECK(names(centred.parameters("n.")) == std::vector<std::string>{"n.gain", "n.bias"});
  CHECK(names(scaled.parameters("n.")) == std::vector<std::string>{"n.gain"});
  const NormLayer copy = scaled;  // a handle, as of every module
  CHECK(copy.parameters()[0].value.buffer() == scaled.parameters()[0].value.buffer());
  CHECK(complaint([] { NormLayer(NormKind::layer, 0); }, {"layer norm: width is 0"}) == "");
  CHECK(complaint([] { NormLayer(NormKind::rms, 6, 0); }, {"RMS norm", "eps is 0"}) == "");
}
