// Rotary positions: what they turn and by how much, in both layouts; what scores then depend on.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr RotaryLayout both[] = {RotaryLayout::interleaved, RotaryLayout::half_split};

// Number i of a row at `position`, one pair at a time.
double turned(const Tensor& x, const Place& at, RotaryLayout layout, double position, double base) {
  const Index width = x.size(-1), i = at.back(), half = width / 2;
  const bool interleaved = layout == RotaryLayout::interleaved;
  const Index pair = interleaved ? i / 2 : i % half;
  Place a = at, b = at;
  a.back() = interleaved ? 2 * pair : pair;
  b.back() = interleaved ? 2 * pair + 1 : pair + half;
  const double exponent = 2 * static_cast<double>(pair) / static_cast<double>(width);
  const double angle = position * std::exp(-std::log(base) * exponent);
  const double one = element(x, a), other = element(x, b);
  return i == a.back() ? one * std::cos(angle) - other * std::sin(angle)
                       : one * std::sin(angle) + other * std::cos(angle);
}

std::string wrong_rotary(const Tensor& x, Index first = 0, double base = 1e4) {
  std::string wrong;
  for (const RotaryLayout layout : both) {
    const std::vector<double> expected = tabulate(x.shape(), [&](const Place& at) {
      return turned(x, at, layout, static_cast<double>(first + at[at.size() - 2]), base);
    });
    wrong += difference(rotary(x, layout, first, base), x.shape(), expected,
                        in_double ? 1e-11 : 5 * tight);
  }
  return wrong;
}

// Scores of heads whose maps of queries and keys are given, x (length, d_model).
Tensor scores_of(const Tensor& x, const Tensor& w_q, const Tensor& w_k, Index heads,
                 RotaryLayout layout) {
  const Tensor q = rotary(split_heads(matmul(x, w_q), heads), layout);
  const Tensor k = rotary(split_heads(matmul(x, w_k), heads), layout);
  return matmul(q, transpose(k));
}

}  // namespace

TEST_CASE("rotary turns every pair by its angle, in both layouts", "[phase6][nn]") {
  for (const Index length : {0, 1, 2, 31, 33}) {
    for (const Index width : {2, 6, 16}) {
      CAPTURE(length, width);
      CHECK(wrong_rotary(random_tensor({length, width})) == "");
      CHECK(wrong_rotary(random_tensor({2, 3, length, width}), 7, 100) == "");
    }
  }
  CHECK(wrong_rotary(random_tensor({2, 1, 2, 1, 3, 4}), 1000) == "");
  CHECK(wrong_rotary(split_heads(random_tensor({2, 5, 12}), 3), 2) == "");  // strided
  CHECK(wrong_rotary(transpose(random_tensor({8, 5}))) == "");
  CHECK(wrong_rotary(slice(random_tensor({9, 4}), 0, 1, 9, 3)) == "");
}

TEST_CASE("rotary keeps lengths, leaves position 0, and goes on from `first`", "[phase6][nn]") {
  const Tensor x = random_tensor({12, 8});
  for (const RotaryLayout layout : both) {
    const Tensor y = rotary(x, layout);
    CHECK(difference_to(sum(y * y, -1), sum(x * x, -1), 5 * tight) == "");
    CHECK(difference_to(slice(y, 0, 0, 1), slice(x, 0, 0, 1), 0) == "");
    CHECK(difference_to(rotary(slice(x, 0, 5, 12), layout, 5), slice(y, 0, 5, 12)) == "");
  }
}

TEST_CASE("scores of rotary queries and keys depend on the distance alone", "[phase6][nn]") {
  const Tensor q = random_tensor({1, 8}, 1), k = random_tensor({1, 8}, 2);
  for (const RotaryLayout layout : both) {
    const auto score = [&](Index m, Index n) {
      return double{sum(rotary(q, layout, m) * rotary(k, layout, n)).item()};
    };
    for (const Index distance : {0, 1, 5, 40}) {
      for (const Index moved : {1, 3, 100, 900}) {
        CHECK(same_number(score(distance + moved, moved), score(distance, 0), 5 * nearly));
        CHECK(same_number(score(moved, distance + moved), score(0, distance), 5 * nearly));
      }
    }
    CHECK_FALSE(same_number(score(1, 0), score(0, 0), 1e-3));
    CHECK_FALSE(same_number(score(1, 0), score(0, 1), 1e-3));
  }
}

TEST_CASE("the gradients of rotary are right", "[phase6][nn]") {
  for (const RotaryLayout layout : both) {
    for (const Index length : {1, 2, 31, 33}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        const Tensor y = rotary(split_heads(in[0], 2), layout, 3);
        return y * y * in[1];  // lengths do not change: without a weight the sum has no slope
      };
      CHECK(wrong_gradient(f, {random_tensor({2, length, 8}), random_tensor({length, 4}, 2)}) ==
            "");
    }
  }
}

TEST_CASE("weights of one layout, converted to the other, give the same scores at every position",
          "[phase6][nn]") {
  constexpr RotaryLayout from = RotaryLayout::interleaved, to = RotaryLayout::half_split;
  const Tensor x = random_tensor({9, 5}), w_q = random_tensor({5, 12}, 2);
  const Tensor w_k = random_tensor({5, 12}, 3);
  const Tensor expected = scores_of(x, w_q, w_k, 2, from);
  const Tensor q = convert_rotary(w_q, 2, from, to), k = convert_rotary(w_k, 2, from, to);
  CHECK(difference_to(scores_of(x, q, k, 2, to), expected, nearly) == "");
  CHECK(difference_to(convert_rotary(q, 2, to, from), w_q, 0) == "");
  CHECK(difference_to(convert_rotary(w_q, 2, from, from), w_q, 0) == "");
  // Not converted: right at position 0, where nothing turns, and wrong further on.
  const Tensor wrong = scores_of(x, w_q, w_k, 2, to);
  const auto score = [](const Tensor& s, Index i, Index j) { return double{s.at({1, i, j})}; };
  CHECK(same_number(score(wrong, 0, 0), score(expected, 0, 0), nearly));
  CHECK(std::abs(score(wrong, 8, 3) - score(expected, 8, 3)) > 0.1);
}

TEST_CASE("convert_rotary moves columns of maps and numbers of biases", "[phase6][nn]") {
  constexpr RotaryLayout from = RotaryLayout::interleaved, to = RotaryLayout::half_split;
  const Tensor bias = Tensor::arange(12);
  CHECK(difference(convert_rotary(bias, 2, from, to), {12},
                   {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}) == "");
  CHECK(difference(convert_rotary(bias, 2, to, from), {12},
                   {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}) == "");
  const Tensor strided = transpose(random_tensor({4, 3}));
  CHECK(
      difference_to(
          transpose(convert_rotary(strided, 1, from, to)),
          concat({slice(transpose(strided), 0, 0, 4, 2), slice(transpose(strided), 0, 1, 4, 2)}, 0),
          0) == "");
  CHECK(convert_rotary(Tensor::zeros({0, 4}), 2, from, to).shape() == Shape{0, 4});
  CHECK(convert_rotary(Tensor::zeros({3, 0}), 2, from, to).shape() == Shape{3, 0});
}

TEST_CASE("rotary positions say what cannot be", "[phase6][nn]") {
  const auto turn = [](const Shape& shape, Index first = 0, double base = 1e4) {
    return [=] { rotary(Tensor::zeros(shape), RotaryLayout::half_split, first, base); };
  };
  CHECK(complaint(turn({2, 3}), {"rotary: x is (2, 3)", "even width"}) == "");
  CHECK(complaint(turn({4}), {"rotary: x is (4)", "(..., length, width)"}) == "");
  CHECK(complaint(turn({3, 0}), {"x is (3, 0)"}) == "");
  CHECK(complaint(turn({3, 2}, -1), {"first -1", "at least 0"}) == "");
  CHECK(complaint(turn({3, 2}, 0, 0), {"rotary: base is 0", "above 0"}) == "");
  CHECK(complaint(turn({3, 2}, 0, NAN), {"base is nan"}) == "");
  const auto convert = [](const Shape& shape, Index heads) {
    return [=] {
      convert_rotary(Tensor::zeros(shape), heads, RotaryLayout::interleaved,
                     RotaryLayout::half_split);
    };
  };
  CHECK(complaint(convert({5, 6}, 2), {"convert_rotary: the map is (5, 6)", "even number"}) == "");
  CHECK(complaint(convert({5, 6}, 0), {"heads is 0"}) == "");
  CHECK(complaint(convert({5, 6}, Index{1} << 62), {"heads is 4611686018427387904"}) == "");
  CHECK(complaint(convert({}, 1), {"the map is ()"}) == "");
}
