// argmax argmin topk hardmax: against a plain search and a stable sort, ties, NaN, edges,
// gradients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

// Whole numbers from -3 to 3, so that many are equal.
Tensor whole_numbers(const Shape& shape, std::uint64_t seed = 1) {
  const Tensor x = random_between(shape, -3, 3, seed);
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = std::round(x.data()[i]);
  return x;
}

// x[o, :, i] of a tensor of three axes
std::vector<double> run(const Tensor& x, Index o, Index i) {
  std::vector<double> values;
  for (Index j = 0; j < x.size(1); ++j) values.push_back(double{x.at({o, j, i})});
  return values;
}

// The places of a run in order, the best first, of equal ones the first first; NaN above all.
Ids ranking(const std::vector<double>& values, bool largest) {
  Ids order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t one, std::int32_t other) {
    const double a = values[static_cast<std::size_t>(one)];
    const double b = values[static_cast<std::size_t>(other)];
    const double up = std::isnan(a) ? 9e9 : a, down = std::isnan(b) ? 9e9 : b;
    return largest ? up > down : up < down;
  });
  return order;
}

}  // namespace

TEST_CASE("argmax and argmin find the first extreme along any axis", "[phase0][ops]") {
  const Tensor x = whole_numbers({3, 17, 5});
  for (const bool largest : {true, false}) {
    const auto f = largest ? argmax : argmin;
    const Indices places = f(x, 1, false), kept = f(x, -2, true);
    REQUIRE(places.shape == Shape{3, 5});
    REQUIRE(kept.shape == Shape{3, 1, 5});
    CHECK(places.values == kept.values);
    for (Index o = 0; o < 3; ++o) {
      for (Index i = 0; i < 5; ++i) {
        CAPTURE(largest, o, i);
        CHECK(places.values[static_cast<std::size_t>(o * 5 + i)] ==
              ranking(run(x, o, i), largest)[0]);
      }
    }
    CHECK(f(transpose(x, 0, 1), 0, false).values == places.values);  // strides
    CHECK(f(Tensor({1}, {7}), 0, false).values == Ids{0});
    CHECK(f(Tensor::zeros({0, 3}), 1, false).values.empty());
    CHECK(f(Tensor({4}, {1, NAN, largest ? infinity : -infinity, NAN}), 0, false).values == Ids{1});
  }
  CHECK(argmax(Tensor({3}, {-infinity, infinity, infinity})).values == Ids{1});
  CHECK(argmax(Tensor::zeros({0, 0})).values.empty());
  CHECK(complaint([] { argmax(Tensor::zeros({2, 0})); },
                  {"argmax", "(2, 0)", "axis -1 is empty", "the largest."}) == "");
  CHECK(complaint([] { argmin(Tensor::zeros({0})); }, {"argmin", "(0)", "the smallest."}) == "");
  CHECK(complaint([] { argmin(Tensor(1.0)); }, {"argmin", "axis -1"}) == "");
}

TEST_CASE("an axis has at most as many places as an index can name", "[phase0][ops]") {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  CHECK(argmax(Tensor::zeros({0, most})).values.empty());
  CHECK(complaint([] { argmax(Tensor::zeros({0, most + 1})); },
                  {"argmax: axis -1 has 2147483648 elements, more than an index can name."}) == "");
}

TEST_CASE("topk chooses as a stable sort does, with NaN above all", "[phase0][ops]") {
  Tensor x = whole_numbers({2, 11, 3}, 4);
  x.set({0, 4, 1}, NAN);
  x.set({1, 10, 2}, infinity);
  x.set({1, 0, 0}, -infinity);
  for (const bool largest : {true, false}) {
    for (const Index k : {0, 1, 4, 11}) {
      const TopK top = topk(x, k, 1, largest);
      REQUIRE(top.values.shape() == Shape{2, k, 3});
      REQUIRE(top.indices.shape == Shape{2, k, 3});
      for (Index o = 0; o < 2; ++o) {
        for (Index i = 0; i < 3; ++i) {
          const std::vector<double> values = run(x, o, i);
          const Ids order = ranking(values, largest);
          for (Index j = 0; j < k; ++j) {
            const std::int32_t place = order[static_cast<std::size_t>(j)];
            CAPTURE(largest, k, o, i, j);
            CHECK(top.indices.values[static_cast<std::size_t>((o * k + j) * 3 + i)] == place);
            CHECK(same_number(double{top.values.at({o, j, i})},
                              values[static_cast<std::size_t>(place)], 0));
          }
        }
      }
    }
  }
  CHECK(topk(Tensor::zeros({0, 5}), 2).values.shape() == Shape{0, 2});
  CHECK(complaint([] { topk(Tensor::zeros({3}), 4); }, {"topk", "(3)", "no 4 elements"}) == "");
  CHECK(complaint([] { topk(Tensor::zeros({3}), -1); }, {"topk", "no -1 elements"}) == "");
}

TEST_CASE("the gradient of topk goes to what was chosen", "[phase0][ops]") {
  const Tensor x({2, 3}, {5, 1, 3, 2, 9, 4});
  const auto largest_two = [](const Tensor& in) { return topk(in, 2).values; };
  CHECK(difference(slope(largest_two, x), {2, 3}, {1, 0, 1, 0, 1, 1}) == "");
  const auto turned = [](const std::vector<Tensor>& in) {
    return topk(transpose(in[0]), 2, 0, false).values;
  };
  CHECK(wrong_gradient(turned, {x}) == "");
}

TEST_CASE("hardmax is 1 at the first largest, 0 elsewhere, and flat", "[phase0][ops]") {
  const Tensor x({2, 4}, {1, 3, 3, 2, -1, -5, -1, -2});
  CHECK(difference(hardmax(x), {2, 4}, {0, 1, 0, 0, 1, 0, 0, 0}) == "");
  CHECK(difference(hardmax(x, 0), {2, 4}, {1, 1, 1, 1, 0, 0, 0, 0}) == "");
  CHECK(difference(hardmax(transpose(x), 0), {4, 2}, {0, 1, 1, 0, 0, 0, 0, 0}) == "");
  CHECK(difference(hardmax(Tensor({3}, {1, NAN, infinity})), {3}, {0, 1, 0}) == "");
  CHECK(difference(hardmax(Tensor({1}, {-7})), {1}, {1}) == "");
  CHECK(hardmax(Tensor::zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(difference(slope([](const Tensor& in) { return in * hardmax(in); }, x), {2, 4},
                   {0, 1, 0, 0, 1, 0, 0, 0}) == "");
  CHECK(difference(slope([](const Tensor& in) { return hardmax(in); }, x), {2, 4},
                   std::vector<double>(8, 0)) == "");
}
