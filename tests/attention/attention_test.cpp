// Scaled dot-product attention against plain loops in double.
#include "tapestry/attention.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// q, k, v (batch, queries | keys, width): scores, weights and output, one number at a time.
struct ByHand {
  std::vector<double> scores, weights, output;
};

ByHand attend(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  ByHand result;
  const Index width = q.size(-1), keys = k.size(-2), values = v.size(-1);
  for (Index b = 0; b < std::max(q.size(0), std::max(k.size(0), v.size(0))); ++b) {
    for (Index i = 0; i < q.size(-2); ++i) {
      std::vector<double> share;
      double total = 0;
      for (Index j = 0; j < keys; ++j) {
        double score = 0;
        for (Index d = 0; d < width; ++d) score += element(q, {b, i, d}) * element(k, {b, j, d});
        score /= std::sqrt(static_cast<double>(width));
        result.scores.push_back(score);
        share.push_back(mask.allows(b, i, j) ? std::exp(score) : 0);
        total += share.back();
      }
      for (double& value : share) value = total == 0 ? 0 : value / total;
      result.weights.insert(result.weights.end(), share.begin(), share.end());
      for (Index e = 0; e < values; ++e) {
        double mixed = 0;
        for (Index j = 0; j < keys; ++j) {
          mixed += share[static_cast<std::size_t>(j)] * element(v, {b, j, e});
        }
        result.output.push_back(mixed);
      }
    }
  }
  return result;
}

std::string wrong_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  const Attention y = attention(q, k, v, mask);
  const ByHand expected = attend(q, k, v, mask);
  const Index batch = std::max(q.size(0), std::max(k.size(0), v.size(0)));
  const Shape scores{std::max(q.size(0), k.size(0)), q.size(-2), k.size(-2)};
  return difference(y.output, {batch, q.size(-2), v.size(-1)}, expected.output, 3 * tight) +
         difference(y.weights, scores, expected.weights, 3 * tight) +
         difference(y.scores, scores, expected.scores, 3 * tight);
}

const std::vector<Mask>& masks_for_two() {
  static const std::vector<Mask> masks = {Mask(),
                                          Mask::causal(),
                                          Mask::causal(2),
                                          Mask::local(1),
                                          Mask::strided(2),
                                          Mask::blocked(2),
                                          Mask::padding({5, 3}),
                                          Mask::padding({0, 5}) & Mask::causal()};
  return masks;
}

}  // namespace

TEST_CASE("two texts of ten words of 512 numbers: keys of 64, values as wide as the words",
          "[phase1][attention]") {
  const Tensor x = random_tensor({2, 10, 512}, 1), w_q = random_tensor({512, 64}, 2);
  const Tensor w_k = random_tensor({512, 64}, 3), w_v = random_tensor({512, 512}, 4);
  const Tensor q = matmul(x, w_q) / 16, k = matmul(x, w_k) / 16, v = matmul(x, w_v) / 16;
  const Attention y = attention(q, k, v);
  CHECK(y.output.shape() == Shape{2, 10, 512});
  CHECK(y.weights.shape() == Shape{2, 10, 10});
  CHECK(wrong_attention(q, k, v, Mask()) == "");
}

TEST_CASE("attention by every mask equals the sum over keys, one at a time",
          "[phase1][attention]") {
  const Tensor q = random_tensor({2, 4, 3}, 1), k = random_tensor({2, 5, 3}, 2);
  const Tensor v = random_tensor({2, 5, 6}, 3);
  for (std::size_t i = 0; i < masks_for_two().size(); ++i) {
    CAPTURE(i);
    CHECK(wrong_attention(q, k, v, masks_for_two()[i]) == "");
    CHECK(wrong_attention(q, k, transpose(random_tensor({2, 7, 5})), masks_for_two()[i]) == "");
  }
}

TEST_CASE("attention at edge sizes", "[phase1][attention]") {
  for (const Index queries : {0, 1, 7}) {
    for (const Index keys : {0, 1, 9}) {
      for (const Index width : {1, 5, 16}) {
        CAPTURE(queries, keys, width);
        CHECK(wrong_attention(random_tensor({1, queries, width}, 1),
                              random_tensor({1, keys, width}, 2), random_tensor({1, keys, 3}, 3),
                              Mask::causal()) == "");
      }
    }
  }
  const Attention none =
      attention(Tensor::ones({2, 3}), Tensor::ones({0, 3}), Tensor::ones({0, 4}));
  CHECK(difference(none.output, {2, 4}, std::vector<double>(8, 0)) == "");
}

TEST_CASE("attention over heads: leading axes, strided operands, broadcasting",
          "[phase1][attention]") {
  const Tensor x = random_tensor({2, 5, 12});
  const Tensor heads = transpose(reshape(x, {2, 5, 3, 4}), 1, 2);  // (2, 3, 5, 4), strided
  const Mask mask = Mask::padding({5, 2}) & Mask::causal();
  const Attention all = attention(heads, heads, heads, mask);
  CHECK(all.weights.shape() == Shape{2, 3, 5, 5});
  for (Index head = 0; head < 3; ++head) {
    const Tensor one = squeeze(slice(heads, 1, head, head + 1), 1).clone();
    const Attention single = attention(one, one, one, mask);
    CHECK(largest_difference(squeeze(slice(all.output, 1, head, head + 1), 1), single.output) <
          1e-6);
    CHECK(largest_difference(squeeze(slice(all.weights, 1, head, head + 1), 1), single.weights) <
          1e-6);
  }
  CHECK(wrong_attention(random_tensor({1, 4, 3}, 1), random_tensor({3, 5, 3}, 2),
                        random_tensor({3, 5, 2}, 3), Mask::causal()) == "");
  CHECK(wrong_attention(random_tensor({3, 4, 3}, 1), random_tensor({1, 5, 3}, 2),
                        random_tensor({1, 5, 2}, 3), Mask()) == "");
  CHECK(attention(random_tensor({4, 3}), random_tensor({5, 3}), random_tensor({5, 2}))
            .output.shape() == Shape{4, 2});
}

TEST_CASE("weights are shares: none below 0, each row sums to 1", "[phase1][attention]") {
  const Tensor x = 4 * random_tensor({3, 8, 6});
  const Attention y = attention(x, x, x, Mask::causal());
  CHECK(min(y.weights).item() >= 0);
  CHECK(difference(sum(y.weights, -1), {3, 8}, std::vector<double>(24, 1)) == "");
}

TEST_CASE("gradients of attention by every mask", "[phase1][attention]") {
  const Tensor q = random_tensor({2, 4, 3}, 1), k = random_tensor({2, 5, 3}, 2);
  const Tensor v = random_tensor({2, 5, 2}, 3);
  for (std::size_t i = 0; i < masks_for_two().size(); ++i) {
    CAPTURE(i);
    const Mask& mask = masks_for_two()[i];
    CHECK(wrong_gradient(
              [&](const std::vector<Tensor>& in) {
                return attention(in[0], in[1], in[2], mask).output;
              },
              {q, k, v}) == "");
    CHECK(wrong_gradient(
              [&](const std::vector<Tensor>& in) {
                const Attention y = attention(in[0], in[0], in[0], mask);
                return concat({y.output, y.weights, y.scores}, -1);
              },
              {random_tensor({2, 5, 3}, 4)}) == "");
  }
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& in) {
              return attention(in[0], in[1], transpose(in[2])).output;
            },
            {random_tensor({3, 2}, 1), random_tensor({2, 1, 4, 2}, 2), random_tensor({2, 4}, 3)}) ==
        "");
}

TEST_CASE("a query that may see nothing gets zeros: weights, output and gradients",
          "[phase1][attention]") {
  const Tensor x = random_tensor({2, 3, 4});
  const Mask mask = Mask::padding({3, 0});
  const Attention y = attention(x, x, x, mask);
  const std::vector<double> nothing(12, 0);
  CHECK(difference(slice(y.weights, 0, 1, 2), {1, 3, 3}, std::vector<double>(9, 0)) == "");
  CHECK(difference(slice(y.output, 0, 1, 2), {1, 3, 4}, nothing) == "");
  const Tensor gradient = slope(
      [&](const Tensor& t) {
        const Tensor output = attention(t, t, t, mask).output;
        return output * output;
      },
      x);
  CHECK(difference(slice(gradient, 0, 1, 2), {1, 3, 4}, nothing) == "");
  CHECK(max(slice(gradient, 0, 0, 1)).item() != 0);
}

TEST_CASE("no query sees the future, to the last bit", "[phase1][attention]") {
  const Tensor x = random_tensor({6, 5});
  const Attention before = attention(x, x, x, Mask::causal());
  for (Index changed = 1; changed < 6; ++changed) {
    Tensor other = x.clone();
    for (Index d = 0; d < 5; ++d) other.set({changed, d}, 100 + d);
    const Attention after = attention(other, other, other, Mask::causal());
    CHECK(largest_difference(slice(before.output, 0, 0, changed),
                             slice(after.output, 0, 0, changed)) == 0);
    CHECK(largest_difference(slice(before.output, 0, changed, changed + 1),
                             slice(after.output, 0, changed, changed + 1)) > 0);
  }
}

TEST_CASE("the last query with cached keys gives what the whole sequence gives",
          "[phase1][attention]") {
  const Tensor x = random_tensor({7, 4}, 1), v = random_tensor({7, 3}, 2);
  const Tensor whole = attention(x, x, v, Mask::causal()).output;
  for (Index i = 0; i < 7; ++i) {
    const Tensor step = attention(slice(x, 0, i, i + 1), slice(x, 0, 0, i + 1),
                                  slice(v, 0, 0, i + 1), Mask::causal(i))
                            .output;
    CHECK(largest_difference(step, slice(whole, 0, i, i + 1)) < 1e-6);
  }
}

TEST_CASE("the order of keys does not matter without a mask", "[phase1][attention]") {
  const Tensor q = random_tensor({3, 4}, 1), k = random_tensor({5, 4}, 2),
               v = random_tensor({5, 2}, 3);
  const Indices order({5}, {3, 0, 4, 1, 2});
  const Tensor other = attention(q, embedding(k, order), embedding(v, order)).output;
  CHECK(largest_difference(attention(q, k, v).output, other) < 1e-6);
}

TEST_CASE("scores too large for exp still give shares", "[phase1][attention]") {
  const Tensor q({1, 1}, {1000}), k({3, 1}, {1, 2, 2}), v({3, 1}, {5, 6, 8});
  const Attention y = attention(q, k, v);
  CHECK(difference(y.weights, {1, 3}, {0, 0.5, 0.5}) == "");
  CHECK(difference(y.output, {1, 1}, {7}) == "");
}

TEST_CASE("what a mask hides may be NaN as a key; what is seen spreads", "[phase1][attention]") {
  Tensor k = random_tensor({2, 4, 3}, 2);
  const Tensor q = random_tensor({2, 2, 3}, 1), v = random_tensor({2, 4, 2}, 3);
  const Mask mask = Mask::padding({4, 2});
  const Tensor clean = attention(q, k, v, mask).output;
  k.set({1, 3, 0}, NAN);
  CHECK(largest_difference(attention(q, k, v, mask).output, clean) == 0);
  k.set({1, 1, 0}, NAN);
  const std::vector<double> y = doubles(attention(q, k, v, mask).output);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == (i >= 4));
}

TEST_CASE("dropped weights mix the values; the others are rescaled", "[phase2][attention]") {
  const Tensor q = random_tensor({2, 4, 3}, 1), k = random_tensor({2, 5, 3}, 2);
  const Tensor v = random_tensor({2, 5, 6}, 3);
  Random random(4), same(4), other(5);
  const Attention y = attention(q, k, v, Mask::causal(2), 0.5, &random);
  const Attention plain = attention(q, k, v, Mask::causal(2));
  CHECK(difference_to(y.weights, plain.weights, 0) == "");  // shown as they were before
  CHECK(difference_to(y.scores, plain.scores, 0) == "");
  CHECK(difference_to(y.output, matmul(dropout(plain.weights, 0.5, same), v), 0) == "");
  CHECK(random.position() == same.position());
  CHECK(largest_difference(attention(q, k, v, Mask::causal(2), 0.5, &other).output, y.output) > 0);
}

TEST_CASE("dropout keeps the mean of what is mixed", "[phase2][attention]") {
  const Tensor nothing = Tensor::zeros({100, 1}), ones = Tensor::ones({100, 1});
  Random random(4);
  for (const double p : {0.1, 0.5, 0.8}) {
    const Tensor y = attention(nothing, nothing, ones, {}, p, &random).output;
    CHECK(std::abs(double{mean(y).item()} - 1) < 5 * std::sqrt(p / (1 - p)) / 100);
    const double unit = 0.01 / (1 - p);  // what one weight that stays contributes
    const double kept = double{y.at({0, 0})} / unit;
    CHECK(std::abs(kept - std::round(kept)) < 1e-3);
  }
}

TEST_CASE("with p = 0 nothing is dropped; with more, attention needs a generator",
          "[phase2][attention]") {
  const Tensor x = random_tensor({2, 4, 3});
  const Tensor plain = attention(x, x, x).output;
  Random random(4);
  CHECK(complaint([&] { attention(x, x, x, {}, 0.5); },
                  {"attention: dropout is 0.5", "no generator", "to evaluate"}) == "");
  CHECK(difference_to(attention(x, x, x, {}, 0, &random).output, plain, 0) == "");
  CHECK(random.position() == 0);
  for (const double p : {1.0, -0.5, double(NAN)}) {
    CHECK(complaint([&] { attention(x, x, x, {}, p, &random); }, {"dropout: p is", "[0, 1)"}) ==
          "");
  }
}

TEST_CASE("gradients of attention with dropout", "[phase2][attention]") {
  const Function f = [](const std::vector<Tensor>& in) {
    Random random(4);  // the same weights are dropped each time
    return attention(in[0], in[1], in[2], Mask::causal(1), 0.4, &random).output;
  };
  CHECK(wrong_gradient(f, {random_tensor({2, 4, 3}, 1), random_tensor({2, 5, 3}, 2),
                           random_tensor({2, 5, 2}, 3)}) == "");
}

TEST_CASE("operands that do not fit are named with all three shapes", "[phase1][attention]") {
  const auto of = [](const Shape& q, const Shape& k, const Shape& v, const Mask& mask = {}) {
    return [=] { attention(Tensor::ones(q), Tensor::ones(k), Tensor::ones(v), mask); };
  };
  CHECK(complaint(of({4, 3}, {5, 2}, {5, 3}), {"attention: q is (4, 3), k is (5, 2), v is (5, 3)",
                                               "same width", "3 and 2"}) == "");
  CHECK(complaint(of({4, 3}, {5, 3}, {6, 3}), {"one value for each key", "5 keys, 6 values"}) ==
        "");
  CHECK(complaint(of({3}, {5, 3}, {5, 3}), {"q is (3)", "(..., length, width)"}) == "");
  CHECK(complaint(of({4, 0}, {5, 0}, {5, 3}), {"at least 1"}) == "");
  CHECK(complaint(of({2, 4, 3}, {3, 5, 3}, {3, 5, 3}), {"leading axes", "2 and 3"}) == "");
  CHECK(complaint(of({2, 4, 3}, {2, 5, 3}, {2, 5, 3}, Mask::padding({5})),
                  {"mask", "1 sequences", "has 2"}) == "");
}
