// Multi-head attention that knows distances: rotary, relative and ALiBi against plain loops, with
// caches, and what it then refuses.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr Positions distances[] = {Positions::rotary, Positions::relative, Positions::alibi};

// q k^T / sqrt(d_k) of one query and key as complex numbers: pair c of head h is
// q[c] + i q[c + d_k / 2], and two turns leave one, by the distance.
double rotary_score(const MultiHeadAttention& m, const Tensor& x, const Place& at) {
  const Index batch = at[0], d_k = m.query.weight.size(1) / m.num_heads, half = d_k / 2;
  double score = 0;
  for (Index c = at[1] * d_k; c < at[1] * d_k + half; ++c) {
    const double q_a = mapped(m.query, x, batch, at[2], c);
    const double q_b = mapped(m.query, x, batch, at[2], c + half);
    const double k_a = mapped(m.key, x, batch, at[3], c);
    const double k_b = mapped(m.key, x, batch, at[3], c + half);
    const double exponent = 2 * static_cast<double>(c % d_k) / static_cast<double>(d_k);
    const double angle = static_cast<double>(at[2] - at[3]) / std::pow(10000, exponent);
    score += (q_a * k_a + q_b * k_b) * std::cos(angle) + (q_a * k_b - q_b * k_a) * std::sin(angle);
  }
  return score / std::sqrt(static_cast<double>(d_k));
}

double plain_score(const MultiHeadAttention& m, const Tensor& x, const Place& at) {
  const Index d_k = m.query.weight.size(1) / m.num_heads;
  double score = 0;
  for (Index c = at[1] * d_k; c < (at[1] + 1) * d_k; ++c) {
    score += mapped(m.query, x, at[0], at[2], c) * mapped(m.key, x, at[0], at[3], c);
  }
  return score / std::sqrt(static_cast<double>(d_k));
}

// at: batch, head, query, key
double score_by_hand(const MultiHeadAttention& m, const Tensor& x, const Place& at) {
  if (m.positions == Positions::rotary) return rotary_score(m, x, at);
  const Index offset = at[3] - at[2];
  if (m.positions == Positions::relative) {
    const Index bucket = relative_position_bucket(offset, m.is_causal);
    return plain_score(m, x, at) + element(m.relative->table.weight, {bucket, at[1]});
  }
  const double slope =
      std::pow(2, -8 * static_cast<double>(at[1] + 1) / static_cast<double>(m.num_heads));
  return plain_score(m, x, at) - slope * std::abs(static_cast<double>(offset));
}

MultiHeadAttention layer(Positions positions, bool causal) {
  return scattered(8, 2, {.bias = true, .is_causal = causal, .positions = positions});
}

// The scores, and what softmax, values and the last map make of them.
std::string wrong_layer(const MultiHeadAttention& m, const Tensor& x, const Mask& mask) {
  const Shape shape{x.size(0), m.num_heads, x.size(1), x.size(1)};
  const std::vector<double> expected =
      tabulate(shape, [&](const Place& at) { return score_by_hand(m, x, at); });
  const Tensor alone = m(x, mask);
  const Capture seen;
  const Tensor y = m(x, mask, {.need_weights = true});
  const Mask visible = m.is_causal ? Mask::causal() & mask : mask;
  const auto share = [&](const Place& at) {  // not yet divided by their sum
    const Index row = (at[0] * shape[1] + at[1]) * shape[2] + at[2];
    const double score = expected[static_cast<std::size_t>(row * shape[3] + at[3])];
    return visible.allows(at[0], at[2], at[3]) ? std::exp(score) : 0;
  };
  const std::vector<double> weights = tabulate(shape, [&](const Place& at) {
    double total = 0;
    for (Index j = 0; j < shape[3]; ++j) total += share({at[0], at[1], at[2], j});
    return total == 0 ? 0 : share(at) / total;
  });
  const Tensor heads = matmul(seen["weights"], split_heads(m.value(x), m.num_heads));
  return difference(seen["scores"], shape, expected, nearly) +
         difference(seen["weights"], shape, weights, nearly) +
         difference_to(y, m.output(concat_heads(heads)), nearly) + difference_to(alone, y, nearly);
}

}  // namespace

TEST_CASE("layers that know distances are what their formulas say", "[phase6][nn]") {
  for (const Positions positions : distances) {
    for (const bool causal : {true, false}) {
      CAPTURE(int(positions), causal);
      const MultiHeadAttention m = layer(positions, causal);
      for (const Index length : {1, 2, 19}) {
        CHECK(wrong_layer(m, random_tensor({2, length, 8}), {}) == "");
        CHECK(wrong_layer(m, random_tensor({2, length, 8}), Mask::padding({length, 0})) == "");
      }
      CHECK(wrong_layer(m, transpose(random_tensor({2, 8, 5})), Mask::local(2)) == "");
    }
  }
}

TEST_CASE("a layer that knows distances can tell one order from another", "[phase6][nn]") {
  const Tensor x = random_tensor({6, 8});
  const Tensor swapped =
      concat({slice(x, 0, 1, 2), slice(x, 0, 0, 1), slice(x, 0, 2, 6)}, 0);  // the first two
  const auto last = [](const Tensor& y) { return slice(y, 0, 5, 6); };
  CHECK(difference_to(last(layer(Positions::none, true)(swapped)),
                      last(layer(Positions::none, true)(x)), nearly) == "");
  for (const Positions positions : distances) {
    const MultiHeadAttention m = layer(positions, true);
    CHECK(largest_difference(last(m(swapped)), last(m(x))) > 1e-3);
    CHECK(same_bits(m(x), squeeze(m(unsqueeze(x, 0)), 0)));
    const Tensor five_axes = random_tensor({1, 2, 1, 3, 8});
    CHECK(difference_to(reshape(m(five_axes), {2, 3, 8}), m(reshape(five_axes, {2, 3, 8})),
                        nearly) == "");
  }
}

TEST_CASE("the gradients of layers that know distances are right", "[phase6][nn]") {
  for (const Positions positions : distances) {
    for (const Index length : {1, 2, 31, 33}) {
      CAPTURE(int(positions), length);
      const MultiHeadAttention m =
          scattered(4, 2, {.is_causal = length % 2 == 1, .positions = positions});
      Parameters all = m.parameters();
      const Tensor x = random_tensor({2, length, 4});
      all.push_back({"x", x});
      CHECK(wrong_gradient_of(all, [&] { return m(x, Mask::padding({length, 0})); }) == "");
    }
  }
}

TEST_CASE("with a cache, positions go on from its length", "[phase6][nn]") {
  const Tensor x = random_tensor({2, 40, 8});
  for (const Positions positions : distances) {
    const MultiHeadAttention m = layer(positions, true);
    const Tensor whole = m(x);
    for (const Index piece : {1, 2, 5}) {
      CAPTURE(int(positions), piece);
      KeyValueCache cache;
      for (Index from = 0; from < 40; from += piece) {
        const Tensor y = m(slice(x, 1, from, from + piece), {}, {.cache = &cache});
        CHECK(difference_to(y, slice(whole, 1, from, from + piece), nearly) == "");
      }
    }
  }
}

TEST_CASE("a relative layer names its table, and other layers keep their numbers", "[phase6][nn]") {
  Random one(3), same(3);
  const MultiHeadAttention plain(8, 2, one),
      relative(8, 2, same, {.positions = Positions::relative});
  std::vector<std::string> expected = names(plain.parameters("m."));
  expected.push_back("m.relative.table.weight");
  CHECK(names(relative.parameters("m.")) == expected);
  CHECK(relative.relative->table.weight.shape() == Shape{32, 2});
  CHECK(same_bits(plain.output.weight, relative.output.weight));
  for (const Positions positions : {Positions::learned, Positions::sinusoidal}) {
    CHECK(complaint([&] { layer(positions, true); },
                    {"multi-head attention: learned and sinusoidal positions are added to x",
                     "let a Transformer do so"}) == "");
  }
}

TEST_CASE("what has no distances is refused by layers that need them", "[phase6][nn]") {
  for (const Positions positions : distances) {
    const MultiHeadAttention m = layer(positions, false);
    const Tensor x = random_tensor({2, 3, 8});
    CHECK(complaint([&] { m.cross_attend(x, x); },
                    {"multi-head attention: cross-attention has no distances", "rotary"}) == "");
    CHECK(complaint([&] { m.head(0); }, {"one head alone has no distances"}) == "");
  }
  CHECK(complaint([] { scattered(8, 2, {.d_k = 3, .positions = Positions::rotary}); },
                  {"d_k is 3", "rotary positions rotate pairs", "even"}) == "");
}
