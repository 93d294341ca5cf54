// Linear attention against plain loops, and its forms against each other.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double alike = in_double ? 1e-11 : 2e-5;

double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }

// By loops over numbers: q, k, v of one batch element, and who sees whom.
std::vector<double> by_loops(const std::vector<Tensor>& in, const Mask& mask) {
  const Tensor &q = in[0], &k = in[1], &v = in[2];
  return tabulate({2, q.size(1), v.size(2)}, [&](const Place& p) {
    double mixed = 0, total = 0;
    for (Index j = 0; j < k.size(1); ++j) {
      if (!mask.allows(p[0], p[1], j)) continue;
      double score = 0;
      for (Index d = 0; d < q.size(2); ++d) {
        score += phi(double{q.at({p[0], p[1], d})}) * phi(double{k.at({p[0], j, d})});
      }
      total += score;
      mixed += score * double{v.at({p[0], j, p[2]})};
    }
    return total == 0 ? 0 : mixed / total;
  });
}

std::vector<Tensor> operands(Index queries, Index keys, Index width = 4, Index value_width = 3) {
  return {random_tensor({2, queries, width}, 1), random_tensor({2, keys, width}, 2),
          random_tensor({2, keys, value_width}, 3)};
}

// phi bends at 0, which differences would see: no element is near it.
std::vector<Tensor> away_from_0(std::vector<Tensor> in) {
  for (const Tensor& x : in) {
    for (Index i = 0; i < x.numel(); ++i) {
      if (std::abs(x.data()[i]) < real(0.05)) x.data()[i] += real(0.1);
    }
  }
  return in;
}

Tensor by_steps(const std::vector<Tensor>& in, Index step) {
  LinearAttentionState state;
  std::vector<Tensor> rows;
  for (Index i = 0; i < in[0].size(-2); i += step) {
    const Index end = std::min(i + step, in[0].size(-2));
    const auto part = [&](const Tensor& x) { return slice(x, -2, i, end); };
    rows.push_back(causal_linear_attention(part(in[0]), part(in[1]), part(in[2]), &state));
  }
  return concat(rows, -2);
}

}  // namespace

TEST_CASE("linear attention: plain loops, the explicit and the parallel form agree",
          "[phase6][attention]") {
  for (const Index keys : {1, 2, 31, 33}) {
    const std::vector<Tensor> in = operands(keys + 2, keys);
    CAPTURE(keys);
    const Shape shape{2, keys + 2, 3};
    CHECK(difference(linear_attention(in[0], in[1], in[2]), shape, by_loops(in, {}), alike) == "");
    CHECK(difference(explicit_linear_attention(in[0], in[1], in[2]).output, shape, by_loops(in, {}),
                     alike) == "");
    const Mask padding = Mask::padding({keys, keys / 2});
    CHECK(difference(linear_attention(in[0], in[1], in[2], {keys, keys / 2}), shape,
                     by_loops(in, padding), alike) == "");
    const Mask mask = (Mask::local(2) | Mask::strided(5)) & padding;
    CHECK(difference(explicit_linear_attention(in[0], in[1], in[2], mask).output, shape,
                     by_loops(in, mask), alike) == "");
  }
}

TEST_CASE("causal linear attention: plain loops, prefix sums and single steps agree",
          "[phase6][attention]") {
  for (const Index length : {1, 2, 31, 33, 63, 64, 65, 127, 200}) {
    const std::vector<Tensor> in = operands(length, length);
    const Shape shape{2, length, 3};
    const std::vector<double> expected = by_loops(in, Mask::causal());
    CAPTURE(length);
    CHECK(difference(causal_linear_attention(in[0], in[1], in[2]), shape, expected, alike) == "");
    CHECK(difference(explicit_linear_attention(in[0], in[1], in[2], Mask::causal()).output, shape,
                     expected, alike) == "");
    for (const Index step : {1, 5, 70}) {
      CHECK(difference(by_steps(in, step), shape, expected, alike) == "");
    }
  }
}

TEST_CASE("the state of linear attention is the sum over the keys, whatever the steps",
          "[phase6][attention]") {
  const std::vector<Tensor> in = operands(150, 150);
  LinearAttentionState whole, steps;
  causal_linear_attention(in[0], in[1], in[2], &whole);
  REQUIRE(whole.sums.shape() == Shape{2, 4, 4});
  const std::vector<double> expected = tabulate({2, 4, 4}, [&](const Place& p) {
    double sum = 0;
    for (Index j = 0; j < 150; ++j) {
      const double value = p[2] == 3 ? 1 : double{in[2].at({p[0], j, p[2]})};
      sum += phi(double{in[1].at({p[0], j, p[1]})}) * value;
    }
    return sum;
  });
  CHECK(difference(whole.sums, {2, 4, 4}, expected, alike) == "");
  for (Index i = 0; i < 150; i += 50) {
    const auto part = [&](const Tensor& x) { return slice(x, 1, i, i + 50); };
    causal_linear_attention(part(in[0]), part(in[1]), part(in[2]), &steps);
  }
  CHECK(difference(steps.sums, {2, 4, 4}, expected, alike) == "");
  const auto none = [](const Tensor& x) { return slice(x, 1, 0, 0); };
  const Tensor y = causal_linear_attention(none(in[0]), none(in[1]), none(in[2]), &steps);
  CHECK(y.shape() == Shape{2, 0, 3});
  CHECK(difference(steps.sums, {2, 4, 4}, expected, alike) == "");
}

TEST_CASE("gradients of linear attention, in every form", "[phase6][attention]") {
  const auto check = [](const Function& f, Index length) {
    CAPTURE(length);
    CHECK(wrong_gradient(f, away_from_0(operands(length, length))) == "");
  };
  for (const Index length : {1, 2, 31, 33, 70}) {
    check([](const auto& in) { return causal_linear_attention(in[0], in[1], in[2]); }, length);
    check([&](const auto& in) { return linear_attention(in[0], in[1], in[2], {length, 0}); },
          length);
  }
  check([](const auto& in) { return by_steps(in, 1); }, 9);
  check([](const auto& in) { return by_steps(in, 4); }, 9);
  check(
      [](const auto& in) {
        return explicit_linear_attention(in[0], in[1], in[2], Mask::local(1)).output;
      },
      9);
}

TEST_CASE("linear attention of nothing is zero, with zero gradients", "[phase6][attention]") {
  const std::vector<Tensor> in = operands(3, 5);
  Tape tape(in);
  const Tensor y = linear_attention(in[0], in[1], in[2], {5, 0});
  const Gradients gradients = tape.backward(y, random_tensor(y.shape(), 3));
  for (const Tensor& x : {y, gradients.at(0), gradients.at(1), gradients.at(2)}) {
    CHECK(largest_difference(slice(x, 0, 1, 2), Tensor::zeros(slice(x, 0, 1, 2).shape())) == 0);
    CHECK(max(slice(x, 0, 0, 1)).item() != 0);
  }
}

TEST_CASE("weights of linear attention sum to one, and are not those of softmax",
          "[phase6][attention]") {
  const std::vector<Tensor> in = operands(20, 20);
  const Attention linear = explicit_linear_attention(in[0], in[1], in[2], Mask::causal());
  CHECK(difference(sum(linear.weights, -1), {2, 20}, std::vector<double>(40, 1)) == "");
  CHECK(min(linear.weights).item() >= 0);
  const Attention softmax = attention(in[0], in[1], in[2], Mask::causal());
  CHECK(largest_difference(linear.weights, softmax.weights) > 0.1);
  const Tensor same = Tensor::ones({20, 4});  // equal keys: both are the mean of the values
  const Tensor v = random_tensor({20, 3}, 3);
  CHECK(difference_to(linear_attention(in[0], same, v),
                      expand(mean(v, 0, true), {2, 20, 3}).clone(), alike) == "");
}

TEST_CASE("linear attention of far negative, huge and broken numbers", "[phase6][attention]") {
  // 1e-8 in the divisor would halve these; elu(x) + 1 in float would round them to steps of 6e-8
  const Tensor low = Tensor::full({4, 2}, -12), v = random_tensor({4, 3}, 3);
  CHECK(difference_to(linear_attention(low, low, v), expand(mean(v, 0, true), {4, 3}).clone(),
                      alike) == "");
  const Tensor slope_at_0 =
      slope([&](const Tensor& x) { return explicit_linear_attention(x, low, v).scores; },
            Tensor::zeros({1, 2}));
  CHECK(difference(slope_at_0, {1, 2}, std::vector<double>(2, 4 * std::exp(-12.0)), 1e-6) == "");
  std::vector<Tensor> in = operands(100, 100);
  in[1].set({0, 80, 1}, std::nan(""));
  const Tensor y = causal_linear_attention(in[0], in[1], in[2]);
  for (const Index i : {0, 50, 63}) CHECK(std::isfinite(y.at({0, i, 0})));
  for (const Index i : {80, 99}) CHECK(std::isnan(y.at({0, i, 0})));
  CHECK(std::isfinite(y.at({1, 99, 0})));
}

TEST_CASE("linear attention takes memory by the length, not by its square", "[phase6][attention]") {
  const auto peak = [](Index length) {
    const Tensor x = random_tensor({length, 8}, 1);
    const auto step = [&] {
      Tape tape({x});
      tape.backward(sum(causal_linear_attention(x, x, x)));
    };
    step();
    return peak_memory_of(step);
  };
  CHECK(peak(4096) < 5 * peak(1024));
}

TEST_CASE("linear attention over heads: strided operands and broadcasting", "[phase6][attention]") {
  const Tensor q = split_heads(random_tensor({2, 70, 12}, 1), 3);
  const Tensor k = split_heads(random_tensor({70, 12}, 2), 3), v = random_tensor({70, 5}, 4);
  const Tensor expected = explicit_linear_attention(q, k, v, Mask::causal()).output;
  LinearAttentionState state;
  CHECK(difference_to(causal_linear_attention(q, k, v, &state), expected, alike) == "");
  CHECK(state.sums.shape() == Shape{3, 4, 6});
  CHECK(difference_to(linear_attention(q, k, v, {70, 30}),
                      explicit_linear_attention(q, k, v, Mask::padding({70, 30})).output,
                      alike) == "");
}

TEST_CASE("linear attention says what does not fit", "[phase6][attention]") {
  const Tensor x = Tensor::zeros({2, 3, 4}), other = Tensor::zeros({2, 5, 4});
  CHECK(complaint([&] { linear_attention(x, x, other); },
                  {"linear attention: q is (2, 3, 4)", "one value for each key"}) == "");
  CHECK(complaint([&] { linear_attention(x, x, x, {3}); }, {"for 1 sequences", "has 2"}) == "");
  CHECK(complaint([&] { linear_attention(x, x, x, {3, 4}); }, {"4 keys", "only 3"}) == "");
  CHECK(complaint([&] { causal_linear_attention(x, other, other); },
                  {"causal linear attention", "as many queries as keys"}) == "");
  const Tensor six = Tensor::zeros({1, 1, 1, 1, 2, 2});
  CHECK(complaint([&] { causal_linear_attention(six, six, six); }, {"at most five axes"}) == "");
  LinearAttentionState state{Tensor::zeros({2, 4, 3})};
  CHECK(complaint([&] { causal_linear_attention(x, x, x, &state); },
                  {"state's sums are (2, 4, 3)", "empty state"}) == "");
  CHECK(state.sums.shape() == Shape{2, 4, 3});
  CHECK(complaint([&] { explicit_linear_attention(x, x, x, Mask::padding({3})); },
                  {"for 1 sequences"}) == "");
}
