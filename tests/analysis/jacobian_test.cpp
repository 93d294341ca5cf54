// Norms of derivatives: against closed forms, against differences, and exactly 0 where nothing
// passes.
#include "tapestry/analysis/jacobian.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({4}, {1, 2, 3, 1});

double norm_of(const Tensor& x) {
  double sum = 0;
  for (const real value : x.values()) sum += double{value} * double{value};
  return std::sqrt(sum);
}

// Differences of fourth order, number by number.
std::vector<double> norms_by_differences(const Function& f, const Tensor& x, double step) {
  const Index n = x.size(0), width = x.size(1);
  std::vector<double> squares(std::size_t(n * n), 0);
  const auto at = [&](Index j, Index c, double h) {
    Tensor moved = x.clone();
    moved.set({j, c}, element(x, {j, c}) + h);
    return f({moved});
  };
  for (Index j = 0; j < n; ++j) {
    for (Index c = 0; c < width; ++c) {
      const Tensor d =
          (8 * (at(j, c, step) - at(j, c, -step)) - (at(j, c, 2 * step) - at(j, c, -2 * step))) /
          (12 * step);
      for (Index i = 0; i < n; ++i) {
        squares[std::size_t(i * n + j)] += std::pow(norm_of(slice(d, 0, i, i + 1)), 2);
      }
    }
  }
  for (double& value : squares) value = std::sqrt(value);
  return squares;
}

}  // namespace

TEST_CASE("of a linear map, the derivatives are its numbers", "[phase3][analysis]") {
  const Tensor a = random_tensor({3, 5}, 1), w = random_tensor({4, 2}, 2);
  const Tensor norms = jacobian_norms([&](const Tensor& x) { return matmul(matmul(a, x), w); },
                                      random_tensor({5, 4}, 3));
  const auto expected = [&](const Place& at) { return std::abs(element(a, at)) * norm_of(w); };
  CHECK(difference(norms, {3, 5}, tabulate({3, 5}, expected), nearly) == "");
}

TEST_CASE("what acts on each position alone has a diagonal", "[phase3][analysis]") {
  const Tensor x = transpose(random_tensor({3, 4}));  // strided
  const Tensor norms = jacobian_norms([](const Tensor& at) { return tanh(at); }, x);
  const auto expected = [&](const Place& at) {
    double sum = 0;
    for (Index c = 0; c < 3; ++c) {
      sum += std::pow(1 - std::pow(std::tanh(element(x, {at[0], c})), 2), 2);
    }
    return at[0] == at[1] ? std::sqrt(sum) : 0;
  };
  CHECK(difference(norms, {4, 4}, tabulate({4, 4}, expected), nearly) == "");
}

TEST_CASE("of a layer of attention they are what differences give, 0 in the future",
          "[phase3][analysis]") {
  for (const bool causal : {false, true}) {
    const MultiHeadAttention layer = scattered(4, 2, {.is_causal = causal});
    const Tensor x = random_tensor({5, 4}, 4);
    const Tensor norms = jacobian_norms([&](const Tensor& at) { return layer(at); }, x);
    const std::vector<double> expected = norms_by_differences(
        [&](const std::vector<Tensor>& in) { return layer(in[0]); }, x, in_double ? 1e-3 : 3e-2);
    CHECK(difference(norms, {5, 5}, expected, in_double ? 1e-8 : 2e-3) == "");
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j) CHECK((norms.at({i, j}) == 0) == (causal && j > i));
    }
  }
}

TEST_CASE("between two places of a model, by the names of what it files", "[phase3][analysis]") {
  const Transformer model = small_transformer(4, 0.5);
  const auto run = [&] { model(ids); };
  const Tensor last = [&] {
    const Capture seen;
    run();
    return seen["blocks.1.output"];
  }();
  const Tensor by_name = jacobian_norms(run, "blocks.1.output", "logits");
  const Tensor direct =
      jacobian_norms([&](const Tensor& x) { return model.lm_head((*model.norm)(x)); }, last);
  CHECK(difference_to(by_name, direct, nearly) == "");

  const Tensor whole = jacobian_norms(run, "embedding", "blocks.1.output");
  REQUIRE(whole.shape() == Shape{4, 4});
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) CHECK((whole.at({i, j}) > 0) == (j <= i));
  }
  CHECK_FALSE(Capture::active());
}

TEST_CASE("all heads of a position count together", "[phase3][analysis]") {
  const MultiHeadAttention layer = scattered(4, 2, {.d_v = 3});
  const Tensor x = random_tensor({1, 5, 4}, 4);
  const Tensor weights = [&] {
    const Capture seen;
    layer(x, {}, {.need_weights = true});
    return seen["weights"];
  }();
  // d output_i / d v_j of head h is a_ij W_O^h.
  const auto expected = [&](const Place& at) {
    double sum = 0;
    for (Index h = 0; h < 2; ++h) {
      const double norm = norm_of(slice(layer.output.weight, 0, 3 * h, 3 * h + 3));
      sum += std::pow(element(weights, {0, h, at[0], at[1]}) * norm, 2);
    }
    return std::sqrt(sum);
  };
  const Tensor norms = jacobian_norms([&] { layer(x); }, "value", "output");
  CHECK(difference(norms, {5, 5}, tabulate({5, 5}, expected), nearly) == "");
}

TEST_CASE("one position, and none", "[phase3][analysis]") {
  const auto twice = [](const Tensor& x) { return 2 * x; };
  CHECK(same_number(double{jacobian_norms(twice, Tensor::ones({1, 4})).item()}, 4, nearly));
  CHECK(jacobian_norms(twice, Tensor::zeros({0, 4})).shape() == Shape{0, 0});
}

TEST_CASE("errors of derivatives say what is missing", "[phase3][analysis]") {
  const Transformer model = small_transformer(4, 0.5);
  const auto run = [&] { model(ids); };
  CHECK(complaint([&] { jacobian_norms(run, "nothing", "logits"); },
                  {"nothing was recorded as 'nothing'", "embedding"}) == "");
  CHECK(complaint([&] { jacobian_norms(run, "embedding", "nothing"); },
                  {"nothing was recorded as 'nothing'"}) == "");
  CHECK(complaint([&] { jacobian_norms(run, "logits", "embedding"); },
                  {"does not depend on any watched tensor"}) == "");
  CHECK(complaint([] { jacobian_norms([](const Tensor& x) { return sum(x); }, Tensor::eye(2)); },
                  {"f(x) is ()", "(..., positions, width)"}) == "");
  CHECK(complaint([] { jacobian_norms([](const Tensor& x) { return x; }, Tensor::ones({2})); },
                  {"x is (2)"}) == "");
  const Capture mine;
  CHECK(complaint([&] { jacobian_norms(run, "embedding", "logits"); },
                  {"another Capture is active"}) == "");
}
