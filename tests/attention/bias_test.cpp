// Attention with a bias on its scores, against plain loops in double.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// q, k, v (batch, heads, length, width); the bias broadcasts.
std::string wrong_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                            const Mask& mask) {
  const Shape shape{q.size(0), q.size(1), q.size(2), k.size(2)};
  const std::vector<double> scores = tabulate(shape, [&](const Place& at) {
    double score = 0;
    for (Index d = 0; d < q.size(3); ++d) {
      score += element(q, {at[0], at[1], at[2], d}) * element(k, {at[0], at[1], at[3], d});
    }
    return score / std::sqrt(static_cast<double>(q.size(3))) + element(bias, at);
  });
  std::vector<double> weights = scores;
  const auto keys = static_cast<std::size_t>(k.size(2));
  for (std::size_t row = 0; keys > 0 && row < weights.size() / keys; ++row) {
    const auto length = static_cast<std::size_t>(shape[2]);
    const std::size_t batch = row / length / static_cast<std::size_t>(shape[1]);
    double total = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double& weight = weights[row * keys + j];
      const bool seen = mask.allows(Index(batch), Index(row % length), Index(j));
      weight = seen ? std::exp(weight) : 0;
      total += weight;
    }
    for (std::size_t j = 0; j < keys && total > 0; ++j) weights[row * keys + j] /= total;
  }
  const Attention y = attention(q, k, v, mask, 0, nullptr, bias);
  return difference(y.scores, shape, scores, 3 * tight) +
         difference(y.weights, shape, weights, 3 * tight) +
         difference_to(y.output, matmul(y.weights, v), 3 * tight);
}

}  // namespace

TEST_CASE("a bias is added to the scores, under every mask, and broadcasts",
          "[phase6][attention]") {
  const std::vector<Mask> masks = {Mask(), Mask::causal(), Mask::padding({3, 0}), Mask::local(1)};
  for (const Index queries : {0, 1, 2, 5}) {
    const Tensor q = random_tensor({2, 3, queries, 4}, 1), k = random_tensor({2, 3, 5, 4}, 2);
    const Tensor v = random_tensor({2, 3, 5, 2}, 3);
    for (const Mask& mask : masks) {
      for (const Shape& shape : {Shape{3, queries, 5}, Shape{queries, 5}, Shape{5}, Shape{},
                                 Shape{3, 1, 1}, Shape{2, 1, queries, 1}}) {
        CHECK(wrong_attention(q, k, v, random_tensor(shape, 4), mask) == "");
      }
      CHECK(wrong_attention(q, k, v, transpose(random_tensor({3, 5, queries}, 4)), mask) == "");
    }
  }
}

TEST_CASE("a bias of minus infinity hides, as a mask does", "[phase6][attention]") {
  const Tensor q = random_tensor({2, 3, 4}, 1), v = random_tensor({2, 3, 5}, 2);
  const Tensor bias = Mask::causal().to(MaskEncoding::additive, {3, 3});
  const Tensor expected = attention(q, q, v, Mask::causal()).output;
  CHECK(difference_to(attention(q, q, v, {}, 0, nullptr, bias).output, expected) == "");
  const Tensor nothing = Tensor::full({3, 3}, -infinity);
  const Tensor y = attention(q, q, v, {}, 0, nullptr, nothing).output;
  CHECK(difference_to(y, Tensor::zeros({2, 3, 5}), 0) == "");
}

TEST_CASE("a capture sees scores with their bias", "[phase6][attention]") {
  const Tensor q = random_tensor({3, 4});
  const Capture seen;
  const Attention plain = attention(q, q, q);
  attention(q, q, q, {}, 0, nullptr, Tensor::full({3, 3}, 2));
  CHECK(difference_to(seen["scores"], plain.scores + 2) == "");
}

TEST_CASE("gradients of attention with a bias, of the bias too", "[phase6][attention]") {
  for (const Index length : {1, 2, 31, 33}) {
    for (const Mask& mask : {Mask::causal(), Mask::padding({length, 0})}) {
      const Function f = [&](const std::vector<Tensor>& in) {
        return attention(in[0], in[1], in[2], mask, 0, nullptr, in[3]).output;
      };
      CHECK(wrong_gradient(
                f, {random_tensor({2, 2, length, 3}, 1), random_tensor({2, 2, length, 3}, 2),
                    random_tensor({2, 2, length, 2}, 3), random_tensor({2, length, length}, 4)}) ==
            "");
    }
  }
}

TEST_CASE("a bias that does not fit the scores is refused", "[phase6][attention]") {
  const Tensor q = Tensor::ones({2, 4, 3});
  const auto with = [&](const Shape& bias) {
    return [&q, bias] { attention(q, q, q, {}, 0, nullptr, Tensor::ones(bias)); };
  };
  CHECK(complaint(with({4, 5}), {"attention, bias", "(2, 4, 4)", "(4, 5)"}) == "");
  CHECK(complaint(with({1, 2, 4, 4}),
                  {"the bias is (1, 2, 4, 4), but scores are (2, 4, 4)", "broadcast"}) == "");
  const Tensor one = Tensor::ones({1, 4, 3});
  CHECK(complaint([&] { attention(one, one, one, {}, 0, nullptr, Tensor::ones({3, 4, 4})); },
                  {"the bias is (3, 4, 4), but scores are (1, 4, 4)"}) == "");
}
