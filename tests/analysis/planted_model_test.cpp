// That the planted model does what its header says: else tests that rely on it prove nothing.
#include "analysis/planted_model.hpp"

#include <cmath>

#include "catch.hpp"
#include "tapestry/analysis/question.hpp"
#include "tapestry/capture.hpp"

using namespace tapestry;

TEST_CASE("the planted model continues a text by induction", "[phase7][analysis]") {
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Transformer model = planted_induction(8, 16, kind);
    const Tensor once = model(Indices({4}, {3, 5, 1, 3}));
    CHECK(std::exp(double{answer(once, {.token = 5}).item()}) > 0.999);
    CHECK(double{answer(once, {.token = 5, .against = 3}).item()} == Approx(10).epsilon(0.05));
    const Tensor later = model(Indices({10}, {0, 7, 2, 6, 2, 4, 7, 1, 0, 6}));
    CHECK(std::exp(double{answer(later, {.position = 4, .token = 6}).item()}) > 0.999);
    CHECK(std::exp(double{answer(later, {.position = 6, .token = 2}).item()}) > 0.999);
    CHECK(std::exp(double{answer(later, {.position = 8, .token = 7}).item()}) > 0.999);
    CHECK(std::exp(double{answer(later, {.position = 9, .token = 2}).item()}) > 0.999);
    for (std::int32_t token = 0; token < 8; ++token) {  // 6 had not been seen before
      CHECK(std::exp(double{answer(later, {.position = 3, .token = token}).item()}) < 0.4);
    }
  }
}

TEST_CASE("with the two heads that were planted, and no other", "[phase7][analysis]") {
  const Transformer model = planted_induction();
  const Indices ids({6}, {3, 5, 1, 2, 3, 5});
  Capture seen;
  (void)model(ids, {}, {.need_weights = true});
  const Tensor first = seen["blocks.0.attention.weights"];  // (1, heads, length, length)
  const Tensor second = seen["blocks.1.attention.weights"];
  for (Index i = 1; i < 6; ++i) CHECK(double{first.at({0, 0, i, i - 1})} > 0.999);
  CHECK(double{second.at({0, 0, 4, 1})} > 0.999);
  CHECK(double{second.at({0, 0, 5, 2})} > 0.999);
  for (const Tensor& weights : {first, second}) {
    for (Index i = 0; i < 6; ++i) {
      CHECK(double{weights.at({0, 1, i, 0})} ==
            Approx(1.0 / static_cast<double>(i + 1)).margin(0.05));
    }
  }
}
