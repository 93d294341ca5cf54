// Rollout against plain loops, flow against the least of all cuts.
#include "tapestry/analysis/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double nearly_equal = in_double ? 1e-12 : 3e-6;

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(std::size_t n) { return Matrix(n, std::vector<double>(n)); }

// Few large weights, many small ones, some 0.
Tensor weights_of(const Shape& shape, std::uint64_t seed, const Mask& mask = {}) {
  const Tensor scores = random_tensor(shape, seed) * 3;
  return softmax(where(mask.tensor(shape), scores, -infinity));
}

// (A + I) / 2 for the mean A over the heads of one batch element, rows divided by their sums.
Matrix link_by_hand(const Tensor& weights, Index batch) {
  const Index heads = weights.size(-3), n = weights.size(-1);
  Matrix result = zeros(std::size_t(n));
  for (Index i = 0; i < n; ++i) {
    double total = 0;
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index h = 0; h < heads; ++h) sum += element(weights, {batch, h, i, j});
      total += result[std::size_t(i)][std::size_t(j)] = sum / double(heads) / 2 + (i == j) / 2.;
    }
    for (double& value : result[std::size_t(i)]) value /= total;
  }
  return result;
}

Matrix times(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix result = zeros(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

// The greatest flow equals the least cut (Ford & Fulkerson 1956): of all ways to put the places
// between on the source's side or the word's, the least total width of pipes from one to the other.
double least_cut(const std::vector<Matrix>& top_first, std::size_t from, std::size_t to) {
  const std::size_t n = top_first[0].size(), levels = top_first.size();
  const std::size_t places = n * (levels + 1);
  double least = infinity;
  for (std::size_t side = 0; side < std::size_t{1} << places; ++side) {
    const auto at_source = [&](std::size_t place) { return (side >> place & 1) != 0; };
    if (!at_source(from) || at_source(levels * n + to)) continue;
    double width = 0;
    for (std::size_t pipe = 0; pipe < levels * n * n; ++pipe) {
      const std::size_t level = pipe / (n * n), a = pipe / n % n, b = pipe % n;
      if (at_source(level * n + a) && !at_source((level + 1) * n + b)) {
        width += top_first[level][a][b];
      }
    }
    least = std::min(least, width);
  }
  return least;
}

}  // namespace

TEST_CASE("rollout is the product of the layers, residuals counted", "[phase3][analysis]") {
  for (const Mask& mask : {Mask(), Mask::causal(), Mask::padding({4, 2})}) {
    std::vector<Tensor> layers;
    for (std::uint64_t l = 0; l < 3; ++l) layers.push_back(weights_of({2, 3, 4, 4}, l, mask));
    const Tensor rollout = attention_rollout(layers);
    const auto expected = [&](Index batch) {
      Matrix result = link_by_hand(layers[0], batch);
      for (std::size_t l = 1; l < 3; ++l) result = times(link_by_hand(layers[l], batch), result);
      return result;
    };
    const Shape shape{2, 4, 4};
    const auto value = [&](const Place& at) {
      return expected(at[0])[std::size_t(at[1])][std::size_t(at[2])];
    };
    CHECK(difference(rollout, shape, tabulate(shape, value), nearly_equal) == "");
    CHECK(difference(sum(rollout, -1), {2, 4}, std::vector<double>(8, 1), nearly_equal) == "");
    CHECK(difference_to(attention_rollout({layers[1]}), with_residual(layers[1]), 0) == "");
  }
}

TEST_CASE("what the mask hides, rollout and flow hide in every depth", "[phase3][analysis]") {
  std::vector<Tensor> layers;
  for (std::uint64_t l = 0; l < 3; ++l) {
    layers.push_back(weights_of({2, 4, 4}, l, Mask::causal() & Mask::local(1)));
  }
  for (const Tensor& reach : {attention_rollout(layers), attention_flow(layers)}) {
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        CHECK((reach.at({i, j}) > 0) == (j <= i && i - j <= 3));  // three layers, a step in each
      }
    }
  }
}

TEST_CASE("known maps: oneself, nobody, the word before, one word", "[phase3][analysis]") {
  const Tensor self = unsqueeze(Tensor::eye(3), 0), nobody = Tensor::zeros({1, 3, 3});
  CHECK(difference_to(attention_rollout({self, self}), Tensor::eye(3)) == "");
  CHECK(difference_to(attention_rollout({nobody, nobody}), Tensor::eye(3)) == "");
  CHECK(difference_to(attention_flow({nobody, self}), Tensor::eye(3)) == "");
  const Tensor before({1, 3, 3}, {1, 0, 0, 1, 0, 0, 0, 1, 0});  // the first looks at itself
  CHECK(difference(attention_rollout({before, before}), {3, 3},
                   {1, 0, 0, .75, .25, 0, .25, .5, .25}) == "");
  // From place 2 to word 1: stay and then step, or step and then stay, each half as wide as all.
  CHECK(difference(attention_flow({before, before}), {3, 3}, {1, 0, 0, 1, .5, 0, .5, 1, .5}) == "");
  CHECK(attention_rollout({Tensor::ones({2, 1, 1})}).item() == 1);
  CHECK(attention_flow({Tensor::ones({2, 1, 1})}).item() == 1);
  CHECK(attention_rollout({Tensor::zeros({2, 0, 0})}).shape() == Shape{0, 0});
  CHECK(attention_flow({Tensor::zeros({3, 2, 0, 0})}).shape() == Shape{3, 0, 0});
}

TEST_CASE("flow of one layer is the layer; of two, the narrower pipes added",
          "[phase3][analysis]") {
  const Tensor first = weights_of({2, 2, 5, 5}, 1), second = weights_of({2, 2, 5, 5}, 2);
  CHECK(difference_to(attention_flow({first}), with_residual(first), nearly_equal) == "");
  const Shape shape{2, 5, 5};
  const auto expected = [&](const Place& at) {
    const Matrix a = link_by_hand(second, at[0]), b = link_by_hand(first, at[0]);
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      sum += std::min(a[std::size_t(at[1])][k], b[k][std::size_t(at[2])]);
    }
    return sum;
  };
  CHECK(difference(attention_flow({first, second}), shape, tabulate(shape, expected),
                   nearly_equal) == "");
}

TEST_CASE("the greatest flow through three layers is the least cut", "[phase3][analysis]") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    std::vector<Tensor> layers;
    std::vector<Matrix> top_first;
    for (std::uint64_t l = 0; l < 3; ++l) {
      layers.push_back(weights_of({1, 3, 3}, 10 * seed + l, seed % 2 ? Mask::causal() : Mask()));
      top_first.insert(top_first.begin(), link_by_hand(unsqueeze(layers.back(), 0), 0));
    }
    const auto cut = [&](const Place& at) {
      return least_cut(top_first, std::size_t(at[0]), std::size_t(at[1]));
    };
    CHECK(difference(attention_flow(layers), {3, 3}, tabulate({3, 3}, cut), nearly_equal) == "");
  }
}

TEST_CASE("flow among few pipes, where it must take back what it sent first",
          "[phase3][analysis]") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<Tensor> layers;
    std::vector<Matrix> top_first;
    for (std::uint64_t l = 0; l < 3; ++l) {
      Tensor sparse = random_between({1, 4, 4}, 0, 1, seed * 7 + l);
      sparse = where(maximum(sparse - 0.5, 0), sparse, 0) * 0.9;
      layers.push_back(sparse / maximum(sum(sparse, -1, true), 0.1));
      top_first.insert(top_first.begin(), link_by_hand(unsqueeze(layers.back(), 0), 0));
    }
    const Tensor flow = attention_flow(layers);
    for (Index j = 0; j < 2; ++j) {
      CHECK(same_number(double{flow.at({j, 3 - j})},
                        least_cut(top_first, std::size_t(j), std::size_t(3 - j)), nearly_equal));
    }
  }
}

TEST_CASE("weights are found under the names of a transformer", "[phase3][analysis]") {
  Random random(3);
  const Transformer model(
      {.vocab_size = 7, .max_length = 8, .d_model = 8, .num_heads = 2, .num_layers = 3}, random);
  const Capture seen;
  CHECK(complaint([&] { captured_weights(seen); }, {"nothing was recorded"}) == "");
  model(Indices({5}, {1, 2, 3, 4, 5}), {}, {.need_weights = true});
  const std::vector<Tensor> layers = captured_weights(seen);
  REQUIRE(layers.size() == 3);
  CHECK(layers[2].buffer() == seen["blocks.2.attention.weights"].buffer());
  CHECK(attention_rollout(layers).shape() == Shape{1, 5, 5});
}

TEST_CASE("strided weights, and NaN", "[phase3][analysis]") {
  const Tensor strided = transpose(weights_of({2, 4, 4}, 1));
  CHECK(difference_to(attention_flow({strided, strided}),
                      attention_flow({strided.clone(), strided.clone()})) == "");
  CHECK(difference_to(attention_rollout({strided}), attention_rollout({strided.clone()})) == "");
  Tensor broken = weights_of({1, 3, 3}, 1);
  broken.set({0, 1, 2}, std::numeric_limits<double>::quiet_NaN());
  CHECK(std::isnan(attention_rollout({broken}).at({1, 0})));
  CHECK(complaint([&] { attention_flow({broken}); }, {"attention_flow", "nan", "finite"}) == "");
  CHECK(complaint([&] { attention_flow({Tensor::full({1, 2, 2}, -1)}); },
                  {"attention_flow", "not negative"}) == "");
  CHECK(complaint([&] { attention_flow({Tensor::full({1, 2, 2}, -0x1p-40)}); },
                  {"a weight is -9.09494701772928", "e-13"}) == "");
}

TEST_CASE("errors of rollout name what does not fit", "[phase3][analysis]") {
  CHECK(complaint([] { attention_rollout({}); }, {"attention_rollout: there are no layers"}) == "");
  CHECK(complaint([] { attention_flow({}); }, {"attention_flow: there are no layers"}) == "");
  CHECK(complaint([] { with_residual(Tensor::ones({3, 3})); },
                  {"weights are (3, 3)", "(..., heads, length, length)"}) == "");
  CHECK(complaint([] { with_residual(Tensor::ones({2, 3, 4})); }, {"(2, 3, 4)"}) == "");
  CHECK(complaint([] { with_residual(Tensor::ones({0, 3, 3})); }, {"a head at least"}) == "");
  CHECK(complaint([] { attention_rollout({Tensor::ones({1, 3, 3}), Tensor::ones({1, 4, 4})}); },
                  {"(1, 3, 3)", "(1, 4, 4)", "the same shape"}) == "");
}
