// The scale and the cap of scores, on both paths.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "kernels/kernel_test.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// Scores of about -30 to 30: a cap bends them, and lets none of them through as it was.
std::vector<Tensor> operands(Index queries, Index keys) {
  return {4 * random_tensor({2, queries, 9}, 1), 3 * random_tensor({2, keys, 9}, 2),
          random_tensor({2, keys, 7}, 3)};
}

// softmax(cap * tanh(scale * q k / cap)) v by plain loops, for one query.
std::vector<double> by_hand(const std::vector<Tensor>& in, Index batch, Index query, double scale,
                            double cap, const Mask& mask) {
  const Index keys = in[1].size(1);
  std::vector<double> out(7, 0);
  double total = 0;
  for (Index j = 0; j < keys; ++j) {
    if (!mask.allows(batch, query, j)) continue;
    double score = 0;
    for (Index p = 0; p < 9; ++p) {
      score += double{in[0].at({batch, query, p})} * double{in[1].at({batch, j, p})};
    }
    const double weight = std::exp(cap * std::tanh(scale * score / cap));
    total += weight;
    for (Index e = 0; e < 7; ++e) {
      out[static_cast<std::size_t>(e)] += weight * double{in[2].at({batch, j, e})};
    }
  }
  for (double& value : out) value /= total;
  return out;
}

struct Outcome {
  Tensor y;
  std::vector<Tensor> gradients;
};

Outcome outcome(bool fused, const std::vector<Tensor>& in, const Mask& mask,
                const ScoreOptions& how) {
  Tape tape(in);
  const Tensor y = fused ? fused_attention(in[0], in[1], in[2], mask, how)
                         : attention(in[0], in[1], in[2], mask, 0, nullptr, {}, how).output;
  const Gradients g = tape.backward(y, random_tensor(y.shape(), 9));
  return {y, {g[in[0]], g[in[1]], g[in[2]]}};
}

}  // namespace

TEST_CASE("scale and cap of attention against plain loops", "[phase2][attention]") {
  const std::vector<Tensor> in = operands(5, 11);
  for (const double scale : {0.1, -0.5, 1.0}) {
    for (const double cap : {0.5, 1.5, 30.0}) {
      const ScoreOptions how{.scale = scale, .softcap = cap};
      for (const Mask& mask : {Mask(), Mask::causal(2)}) {
        const Tensor y = attention(in[0], in[1], in[2], mask, 0, nullptr, {}, how).output;
        const Tensor fused = fused_attention(in[0], in[1], in[2], mask, how);
        for (Index i = 0; i < 5; ++i) {
          const std::vector<double> expected = by_hand(in, 1, i, scale, cap, mask);
          const auto row = [&](const Tensor& x) {
            return reshape(slice(slice(x, 0, 1, 2), 1, i, i + 1), {7});
          };
          CAPTURE(scale, cap, i);
          CHECK(difference(row(y), {7}, expected, 2e-5) == "");
          CHECK(difference(row(fused), {7}, expected, 2e-5) == "");
        }
      }
    }
  }
}

TEST_CASE("a capped score is within the cap, and a large cap changes nothing",
          "[phase2][attention]") {
  const std::vector<Tensor> in = operands(6, 8);
  const Tensor scores =
      attention(in[0], in[1], in[2], {}, 0, nullptr, {}, {.scale = 5, .softcap = 2}).scores;
  CHECK(max(abs(scores)).item() <= 2);
  CHECK(difference_to(fused_attention(in[0], in[1], in[2], {}, {.softcap = 1e6}),
                      fused_attention(in[0], in[1], in[2]), 1e-4) == "");
  CHECK(difference_to(fused_attention(in[0], in[1], in[2], {}, {.scale = 1 / std::sqrt(9.0)}),
                      fused_attention(in[0], in[1], in[2]), 0) == "");
  const Tensor bias = random_tensor({6, 8}, 5);  // it comes after the cap
  const Attention with = attention(in[0], in[1], in[2], {}, 0, nullptr, bias, {.softcap = 2});
  const Attention without = attention(in[0], in[1], in[2], {}, 0, nullptr, {}, {.softcap = 2});
  CHECK(difference_to(with.scores, without.scores + bias) == "");
}

TEST_CASE("fused attention with scale and cap equals the explicit path on every set",
          "[phase2][attention]") {
  for (const kernels::Table* set : kernels::usable_sets()) {
    const kernels::Using use(*set);
    for (const Index queries : {1, 7, 70}) {
      const std::vector<Tensor> in = operands(queries, 130);
      for (const Mask& mask : {Mask(), Mask::causal(50), Mask::local(9)}) {
        const ScoreOptions how{.scale = 0.3, .softcap = 4};
        const Outcome ours = outcome(true, in, mask, how), expected = outcome(false, in, mask, how);
        CAPTURE(set->name, queries);
        CHECK(difference_to(ours.y, expected.y, 2e-5) == "");
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(difference_to(ours.gradients[i], expected.gradients[i], 2e-4) == "");
        }
      }
    }
  }
}

TEST_CASE("gradients of attention with scale and cap", "[phase2][attention]") {
  for (const bool fused : {false, true}) {
    const Function f = [fused](const std::vector<Tensor>& in) {
      const ScoreOptions how{.scale = 0.4, .softcap = 1.5};
      const Mask mask = Mask::causal(1);
      return fused ? fused_attention(in[0], in[1], in[2], mask, how)
                   : attention(in[0], in[1], in[2], mask, 0, nullptr, {}, how).output;
    };
    CHECK(wrong_gradient(f, {random_tensor({2, 3, 4}, 1), random_tensor({2, 5, 4}, 2),
                             random_tensor({2, 5, 3}, 3)}) == "");
  }
  const ScoreOptions how{.softcap = 2};  // heads that share keys
  const std::vector<Tensor> in = {random_tensor({4, 3, 5}, 1), random_tensor({2, 6, 5}, 2),
                                  random_tensor({2, 6, 5}, 3)};
  const auto each = [](const Tensor& x, Index group) { return slice(x, 0, group, group + 1); };
  const auto twice = [&](const Tensor& x) {
    return concat({each(x, 0), each(x, 0), each(x, 1), each(x, 1)}, 0);
  };
  CHECK(difference_to(grouped_attention(in[0], in[1], in[2], {}, how),
                      attention(in[0], twice(in[1]), twice(in[2]), {}, 0, nullptr, {}, how).output,
                      1e-5) == "");
}

TEST_CASE("what is hidden from capped attention stays without influence", "[phase2][attention]") {
  std::vector<Tensor> in = operands(4, 6);
  in[1].set({0, 5, 0}, NAN);
  in[2].set({1, 5, 0}, infinity);
  const ScoreOptions how{.softcap = 3};
  const Mask mask = Mask::padding({5, 5});
  const Outcome fused = outcome(true, in, mask, how), plain = outcome(false, in, mask, how);
  CHECK(difference_to(fused.y, plain.y, 2e-5) == "");
  for (const double value : doubles(fused.y)) CHECK(std::isfinite(value));
  for (const Tensor& g : fused.gradients) CHECK(std::isfinite(double{sum(g).item()}));
}

TEST_CASE("scales and caps that cannot be are refused in words", "[phase2][attention]") {
  const std::vector<Tensor> in = operands(2, 2);
  const auto refusal = [&](const ScoreOptions& how, const char* words) {
    return complaint([&] { (void)fused_attention(in[0], in[1], in[2], {}, how); }, {words}) +
           complaint([&] { (void)attention(in[0], in[1], in[2], {}, 0, nullptr, {}, how); },
                     {words});
  };
  CHECK(refusal({.scale = NAN}, "attention: the scale is nan") == "");
  CHECK(refusal({.scale = infinity}, "attention: the scale is inf") == "");
  CHECK(refusal({.softcap = -1}, "attention: the softcap is -1") == "");
  CHECK(refusal({.softcap = -1e-9}, "attention: the softcap is -1e-09") == "");
  CHECK(refusal({.softcap = NAN}, "attention: the softcap is nan") == "");
}
