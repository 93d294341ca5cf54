// where, masked_fill, clamp, maximum, minimum.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Tensor zeros_and_ones(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Tensor result = Tensor::zeros(shape);
  for (Index i = 0; i < result.numel(); ++i) result.data()[i] = random.bits() & 1 ? 1 : 0;
  return result;
}

std::string wrong_where(const Tensor& condition, const Tensor& a, const Tensor& b,
                        const Shape& shape) {
  return difference(where(condition, a, b), shape, tabulate(shape, [&](const Place& place) {
                      return element(condition, place) != 0 ? element(a, place) : element(b, place);
                    }));
}

}  // namespace

TEST_CASE("where picks element by element, all three broadcasting", "[phase0][ops]") {
  struct Case {
    Shape condition, a, b, y;
  };
  const std::vector<Case> cases = {
      {{2, 3}, {2, 3}, {2, 3}, {2, 3}},
      {{3}, {2, 1}, {}, {2, 3}},
      {{2, 1}, {3}, {1, 1}, {2, 3}},
      {{5, 1, 1}, {4, 1}, {3}, {5, 4, 3}},
      {{}, {7}, {7}, {7}},
      {{0}, {1}, {}, {0}},
      {{}, {}, {}, {}},
      {{41}, {41}, {1}, {41}},
  };
  for (const Case& shapes : cases) {
    CAPTURE(to_string(shapes.condition), to_string(shapes.a), to_string(shapes.b));
    const Tensor condition = zeros_and_ones(shapes.condition, 3);
    const Tensor a = random_tensor(shapes.a, 1), b = random_tensor(shapes.b, 2);
    CHECK(wrong_where(condition, a, b, shapes.y) == "");
    CHECK(wrong_gradient([&](const std::vector<Tensor>& x) { return where(condition, x[0], x[1]); },
                         {a, b}) == "");
  }
}

TEST_CASE("where reads strided views", "[phase0][ops]") {
  const Tensor condition = zeros_and_ones({4, 6}, 5);
  const Tensor a = random_tensor({6, 4}, 1), b = random_tensor({4, 12}, 2);
  CHECK(wrong_where(condition, transpose(a), slice(b, 1, 0, 12, 2), {4, 6}) == "");
  CHECK(wrong_where(transpose(condition), a, 0, {6, 4}) == "");
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& x) {
              return where(condition, transpose(x[0]), slice(x[1], 1, 0, 12, 2));
            },
            {a, b}) == "");
}

TEST_CASE("a condition of minus zero is false, of NaN is true", "[phase0][ops]") {
  const Tensor condition({4}, {-0.0, NAN, infinity, 0.5});
  CHECK(difference(where(condition, 1, 2), {4}, {2, 1, 1, 1}) == "");
}

TEST_CASE("what where does not pick reaches neither the result nor the gradient", "[phase0][ops]") {
  const Tensor condition({3}, {1, 0, 1}), bad({3}, {1, NAN, infinity});
  CHECK(difference(where(condition, 5, bad), {3}, {5, NAN, 5}) == "");
  CHECK(difference(where(condition, bad, 5), {3}, {1, 5, infinity}) == "");
  const Tensor x({3}, {2, 3, 4});
  const auto f = [&](const Tensor& t) {
    return where(condition, t, bad) * Tensor({3}, {1, NAN, 1});
  };
  CHECK(difference(slope(f, x), {3}, {1, 0, 1}) == "");
}

TEST_CASE("the condition gets no gradient", "[phase0][ops]") {
  const Tensor condition({2}, {1, 0}), x({2}, {3, 4});
  Tape tape({condition, x});
  const Gradients gradients = tape.backward(sum(where(condition, x, 2 * x)));
  CHECK(difference(gradients[condition], {2}, {0, 0}) == "");
  CHECK(difference(gradients[x], {2}, {1, 2}) == "");
}

TEST_CASE("masked_fill overwrites where the condition is 1", "[phase0][ops]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), condition({3}, {0, 1, 0});
  CHECK(difference(masked_fill(x, condition, -infinity), {2, 3},
                   {1, -infinity, 3, 4, -infinity, 6}) == "");
  CHECK(difference(masked_fill(transpose(x), transpose(Tensor({2, 1}, {0, 1})), 9), {3, 2},
                   {1, 9, 2, 9, 3, 9}) == "");
  CHECK(difference(slope([&](const Tensor& t) { return masked_fill(t, condition, 7); }, x), {2, 3},
                   {1, 0, 1, 1, 0, 1}) == "");
  CHECK(masked_fill(Tensor::zeros({0, 3}), condition, 1).shape() == Shape{0, 3});
}

TEST_CASE("clamp keeps within its bounds and blocks the gradient outside", "[phase0][ops]") {
  const Tensor x({7}, {-5, -1, -0.5, 0, 2, 2.5, NAN});
  CHECK(difference(clamp(x, -1, 2), {7}, {-1, -1, -0.5, 0, 2, 2, NAN}) == "");
  CHECK(difference(slope([](const Tensor& t) { return clamp(t, -1, 2); }, x), {7},
                   {0, 1, 1, 1, 1, 0, 1}) == "");
  CHECK(difference(clamp(Tensor({2}, {-infinity, infinity}), -3, 3), {2}, {-3, 3}) == "");
  CHECK(difference(clamp(x, 0, infinity), {7}, {0, 0, 0, 0, 2, 2.5, NAN}) == "");
  CHECK(difference(clamp(Tensor({2}, {1, 5}), 3, 3), {2}, {3, 3}) == "");
  const Tensor wide = 3 * random_tensor({4, 11});
  CHECK(difference(clamp(transpose(wide), -1, 1), {11, 4}, tabulate({11, 4}, [&](const Place& p) {
                     return std::min(1.0, std::max(-1.0, element(transpose(wide), p)));
                   })) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& t) { return clamp(t[0], -1, 1); },
                       {Tensor({5}, {-3, -0.5, 0, 0.5, 2})}) == "");
  CHECK(clamp(Tensor::zeros({0}), 0, 1).numel() == 0);
}

TEST_CASE("maximum and minimum choose element by element", "[phase0][ops]") {
  const Tensor a = random_tensor({3, 1, 17}, 1), b = random_tensor({4, 1}, 2);
  const Shape shape{3, 4, 17};
  CHECK(difference(maximum(a, b), shape, tabulate(shape, [&](const Place& place) {
                     return std::max(element(a, place), element(b, place));
                   })) == "");
  CHECK(difference(minimum(a, b), shape, tabulate(shape, [&](const Place& place) {
                     return std::min(element(a, place), element(b, place));
                   })) == "");
  CHECK(maximum(Tensor::zeros({0, 2}), 1).shape() == Shape{0, 2});
}

TEST_CASE("maximum and minimum hand the gradient to the winner", "[phase0][ops]") {
  const Tensor a({3, 2}, {1, -2, 3, 0.5, -1, 4}), b({2}, {0, 1});
  for (const auto f : {maximum, minimum}) {
    CHECK(wrong_gradient([f](const std::vector<Tensor>& x) { return f(x[0], x[1]); }, {a, b}) ==
          "");
    CHECK(wrong_gradient([f](const std::vector<Tensor>& x) { return f(transpose(x[0]), 0.25); },
                         {a}) == "");
    const Tensor ties({2}, {5, 5});
    const Tensor halves = slope([f](const Tensor& x) { return f(x, Tensor({2}, {5, 5})); }, ties);
    CHECK(difference(halves, {2}, {0.5, 0.5}) == "");
  }
}

TEST_CASE("maximum and minimum give NaN where either side is NaN", "[phase0][ops]") {
  const Tensor a({19}, std::vector<real>(19, 1)), b = Tensor::full({19}, NAN);
  const std::vector<double> expected(19, NAN);
  for (const auto f : {maximum, minimum}) {
    CHECK(difference(f(a, b), {19}, expected) == "");
    CHECK(difference(f(b, a), {19}, expected) == "");
  }
  CHECK(difference(maximum(Tensor({2}, {-infinity, infinity}), 0), {2}, {0, infinity}) == "");
  CHECK(difference(minimum(Tensor({2}, {-infinity, infinity}), 0), {2}, {-infinity, 0}) == "");
}

TEST_CASE("choosing from what does not fit is refused in words", "[phase0][ops]") {
  const Tensor x = Tensor::zeros({2, 3}), four = Tensor::zeros({4});
  CHECK(complaint([&] { where(x, x, four); }, {"where", "(2, 3)", "(4)"}) == "");
  CHECK(complaint([&] { where(four, x, x); }, {"where", "condition", "(2, 3)", "(4)"}) == "");
  CHECK(complaint([&] { masked_fill(x, four, 0); },
                  {"masked_fill", "x is (2, 3)", "condition is (4)", "broadcast to x's"}) == "");
  CHECK(complaint([&] { masked_fill(Tensor::zeros({3}), x, 0); },
                  {"masked_fill", "x is (3)", "condition is (2, 3)"}) == "");
  CHECK(complaint([&] { maximum(x, four); }, {"maximum", "a is (2, 3)", "b is (4)"}) == "");
  CHECK(complaint([&] { minimum(x, four); }, {"minimum", "a is (2, 3)", "b is (4)"}) == "");
  CHECK(complaint([&] { clamp(x, 2, 1); }, {"clamp", "low is 2", "high is 1", "above"}) == "");
  CHECK(complaint([&] { clamp(x, NAN, 1); }, {"clamp", "low is"}) == "");
}
