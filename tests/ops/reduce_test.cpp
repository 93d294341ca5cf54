// sum, mean, var, prod, max, min over any axes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

double sum_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum;
}
double mean_of(const std::vector<double>& x) { return sum_of(x) / static_cast<double>(x.size()); }
double var_of(const std::vector<double>& x) {
  std::vector<double> squares;
  for (const double value : x) squares.push_back(std::pow(value - mean_of(x), 2));
  return mean_of(squares);
}
double prod_of(const std::vector<double>& x) {
  double product = 1;
  for (const double value : x) product *= value;
  return product;
}
double max_of(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }
double min_of(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }

struct Reduction {
  const char* name;
  Tensor (*f)(const Tensor&, const Axes&, bool);
  double (*reference)(const std::vector<double>&);
};

const std::vector<Reduction> reductions = {
    {"sum", sum, sum_of}, {"mean", mean, mean_of}, {"var", var, var_of},
    {"max", max, max_of}, {"min", min, min_of},    {"prod", prod, prod_of},
};

using Flags = std::vector<bool>;  // per axis: reduced or not

Flags flags_of(std::size_t bits, int rank) {
  Flags flags;
  for (int axis = 0; axis < rank; ++axis) flags.push_back(bits >> axis & 1);
  return flags;
}

Axes axes_of(const Flags& reduced) {
  Axes axes;
  axes.count = 0;
  for (std::size_t axis = reduced.size(); axis-- > 0;) {  // from the back: order must not matter
    if (reduced[axis]) axes.list[static_cast<std::size_t>(axes.count++)] = static_cast<int>(axis);
  }
  return axes;
}

// What the reduction gives, each result from the list of all elements that meet in it.
std::vector<double> reduced_by_hand(const Reduction& reduction, const Tensor& x,
                                    const Flags& reduced) {
  Shape kept = x.shape();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (reduced[static_cast<std::size_t>(axis)]) kept = kept.with(axis, 1);
  }
  return tabulate(kept, [&](const Place& place) {
    std::vector<double> meeting;
    tabulate(x.shape(), [&](const Place& from) {
      bool meets = true;
      for (std::size_t axis = 0; axis < from.size(); ++axis) {
        meets &= reduced[axis] || from[axis] == place[axis];
      }
      if (meets) meeting.push_back(element(x, from));
      return 0;
    });
    return reduction.reference(meeting);
  });
}

std::string wrong_reduction(const Reduction& reduction, const Tensor& x, const Flags& reduced) {
  const std::vector<double> expected = reduced_by_hand(reduction, x, reduced);
  Shape kept = x.shape(), dropped = x.shape();
  for (int axis = x.ndim() - 1; axis >= 0; --axis) {
    if (!reduced[static_cast<std::size_t>(axis)]) continue;
    kept = kept.with(axis, 1);
    dropped = dropped.removed(axis);
  }
  const Axes axes = axes_of(reduced);
  return difference(reduction.f(x, axes, true), kept, expected, 5 * tight) +
         difference(reduction.f(x, axes, false), dropped, expected, 5 * tight);
}

}  // namespace

TEST_CASE("reductions over every choice of axes, kept or dropped", "[phase0][ops]") {
  for (const Shape& shape :
       {Shape{2, 3, 4, 5}, Shape{3, 1, 19}, Shape{33}, Shape{1, 2, 1, 3, 1, 2}}) {
    const Tensor x = random_tensor(shape);
    for (const Reduction& reduction : reductions) {
      for (std::size_t bits = 0; bits < std::size_t{1} << shape.ndim(); ++bits) {
        CAPTURE(reduction.name, to_string(shape), bits);
        CHECK(wrong_reduction(reduction, x, flags_of(bits, shape.ndim())) == "");
      }
    }
  }
}

TEST_CASE("reductions read strided views", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 6, 5});
  for (const Tensor& view :
       {transpose(x), transpose(x, 0, 1), slice(x, 1, 0, 6, 2),
        slice(permute(x, {2, 0, 1}), 0, 1, 4), expand(slice(x, 0, 0, 1), {3, 6, 5})}) {
    for (const Reduction& reduction : reductions) {
      for (std::size_t bits = 0; bits < 8; ++bits) {
        CAPTURE(reduction.name, to_string(view.shape()), bits);
        CHECK(wrong_reduction(reduction, view, flags_of(bits, 3)) == "");
      }
    }
  }
}

TEST_CASE("gradients of reductions over every choice of axes", "[phase0][ops]") {
  Tensor x = Tensor::zeros({2, 3, 4});  // far from ties, where max and min have a kink
  const std::vector<Index> order = Random(3).permutation(24);
  for (Index i = 0; i < 24; ++i) x.data()[order[static_cast<std::size_t>(i)]] = real(i) / 4 - 2;
  for (const Reduction& reduction : reductions) {
    for (std::size_t bits = 0; bits < 8; ++bits) {
      const Axes axes = axes_of(flags_of(bits, 3));
      for (const bool keep : {false, true}) {
        CAPTURE(reduction.name, bits, keep);
        CHECK(wrong_gradient(
                  [&](const std::vector<Tensor>& in) { return reduction.f(in[0], axes, keep); },
                  {x}) == "");
      }
      CHECK(wrong_gradient(
                [&](const std::vector<Tensor>& in) {
                  return reduction.f(slice(transpose(in[0]), 1, 0, 4, 2), axes, false);
                },
                {x}) == "");
    }
  }
}

TEST_CASE("all axes are reduced by default, one by its number, negative from the back",
          "[phase0][ops]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(sum(x), Shape{}, {21}) == "");
  CHECK(difference(sum(x, {}, true), {1, 1}, {21}) == "");
  CHECK(difference(sum(x, 0), {3}, {5, 7, 9}) == "");
  CHECK(difference(sum(x, -1), {2}, {6, 15}) == "");
  CHECK(difference(sum(x, {-1, 0}), Shape{}, {21}) == "");
  CHECK(difference(mean(x, 1, true), {2, 1}, {2, 5}) == "");
  CHECK(difference(var(x, 1), {2}, {2.0 / 3, 2.0 / 3}) == "");
  CHECK(difference(max(x, 0), {3}, {4, 5, 6}) == "");
  CHECK(difference(min(x), Shape{}, {1}) == "");
  for (const Reduction& reduction : reductions) {
    CHECK(difference(reduction.f(Tensor(3), {}, false), Shape{},
                     {reduction.name == std::string("var") ? 0.0 : 3.0}) == "");
  }
}

TEST_CASE("reductions of nothing", "[phase0][ops]") {
  const Tensor x = Tensor::zeros({2, 0, 3});
  CHECK(difference(sum(x, 1), {2, 3}, std::vector<double>(6, 0)) == "");
  CHECK(difference(mean(x, 1), {2, 3}, std::vector<double>(6, NAN)) == "");
  CHECK(difference(var(x, 1), {2, 3}, std::vector<double>(6, NAN)) == "");
  CHECK(difference(sum(x), Shape{}, {0}) == "");
  CHECK(difference(mean(x), Shape{}, {NAN}) == "");
  CHECK(sum(x, 0).shape() == Shape{0, 3});
  CHECK(max(x, 0).shape() == Shape{0, 3});
  CHECK(min(x, {0, 2}, true).shape() == Shape{1, 0, 1});
  CHECK(slope([](const Tensor& t) { return sum(t, 1); }, x).shape() == Shape{2, 0, 3});
  CHECK(slope([](const Tensor& t) { return mean(t); }, x).shape() == Shape{2, 0, 3});
  CHECK(difference(max(x, 1), {2, 3}, std::vector<double>(6, -INFINITY)) == "");
  CHECK(difference(min(x, 1), {2, 3}, std::vector<double>(6, INFINITY)) == "");
  CHECK(difference(max(x), Shape{}, {-INFINITY}) == "");
  CHECK(difference(min(x, {0, 1}, true), {1, 1, 3}, std::vector<double>(3, INFINITY)) == "");
  CHECK(slope([](const Tensor& t) { return max(t, 1); }, x).shape() == Shape{2, 0, 3});
}

TEST_CASE("NaN and infinities reach the result", "[phase0][ops]") {
  for (const Index place : {0, 8, 20}) {
    Tensor x = Tensor::ones({21});
    x.set({place}, NAN);
    for (const Reduction& reduction : reductions) {
      CAPTURE(reduction.name, place);
      CHECK(difference(reduction.f(x, {}, false), Shape{}, {NAN}) == "");
      CHECK(difference(reduction.f(expand(unsqueeze(x, 1), {21, 9}), 0, false), {9},
                       std::vector<double>(9, NAN)) == "");
    }
    x.set({place}, infinity);
    CHECK(sum(x).item() == infinity);
    CHECK(max(x).item() == infinity);
    CHECK(min(x).item() == 1);
    x.set({place}, -infinity);
    CHECK(mean(x).item() == -infinity);
    CHECK(max(x).item() == 1);
    CHECK(min(x).item() == -infinity);
  }
  CHECK(max(Tensor::full({5}, -infinity)).item() == -infinity);
}

TEST_CASE("equal extremes share the gradient", "[phase0][ops]") {
  const Tensor x({2, 3}, {1, 4, 4, 2, 2, 2});
  CHECK(difference(slope([](const Tensor& t) { return max(t, 1); }, x), {2, 3},
                   {0, 0.5, 0.5, 1.0 / 3, 1.0 / 3, 1.0 / 3}) == "");
  CHECK(difference(slope([](const Tensor& t) { return min(t); }, x), {2, 3}, {1, 0, 0, 0, 0, 0}) ==
        "");
}

TEST_CASE("a long sum keeps its digits", "[phase0][ops]") {
  const double tenth = double{static_cast<real>(0.1)};
  CHECK(std::abs(double{sum(Tensor::full({1'000'003}, 0.1)).item()} / (1'000'003 * tenth) - 1) <
        (in_double ? 1e-12 : 5e-5));
  CHECK(std::abs(double{mean(Tensor::full({333, 3001}, 0.1), 0).at({7})} / tenth - 1) <
        (in_double ? 1e-12 : 5e-5));
}

TEST_CASE("a reduction of neighbouring axes copies nothing", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 100, 100});
  for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{1, 2}, Axes{0, 1, 2}}) {
    const std::size_t copied = 40'000 * sizeof(real);
    CHECK(peak_memory_of([&] { sum(x, axes); }) < copied / 2);
    CHECK(peak_memory_of([&] { max(x, axes); }) < copied / 2);
  }
}

TEST_CASE("axes that cannot be reduced are refused in words", "[phase0][ops]") {
  const Tensor x = Tensor::zeros({2, 3});
  for (const Reduction& reduction : reductions) {
    CAPTURE(reduction.name);
    CHECK(complaint([&] { reduction.f(x, 2, false); }, {"axis 2", "-2 to 1"}) == "");
    CHECK(complaint([&] { reduction.f(x, {0, -2}, false); }, {"axis 0", "twice"}) == "");
    CHECK(complaint([&] { reduction.f(Tensor(1), 0, false); }, {"axis 0", "none"}) == "");
  }
  CHECK(complaint([] { Axes{0, 1, 2, 3, 4, 5, 6}; }, {"axes", "7", "at most 6"}) == "");
}

TEST_CASE("the gradient of prod is right where numbers are 0", "[phase0][ops]") {
  const auto of = [](std::initializer_list<double> x) {
    const Tensor in({static_cast<Index>(x.size())}, x);
    return slope([](const Tensor& t) { return prod(t); }, in);
  };
  CHECK(difference(of({2, 3, 4}), {3}, {12, 8, 6}) == "");
  CHECK(difference(of({2, 0, 4}), {3}, {0, 8, 0}) == "");
  CHECK(difference(of({0, 3, 0}), {3}, {0, 0, 0}) == "");
  CHECK(difference(of({7}), {1}, {1}) == "");
  CHECK(difference(prod(Tensor::zeros({0})), {}, {1}) == "");
  CHECK(difference(prod(Tensor({3}, {2, NAN, 0})), {}, {NAN}) == "");
  CHECK(difference(prod(Tensor({2}, {0, infinity})), {}, {NAN}) == "");
}

TEST_CASE("axes may be known only when the program runs", "[phase0][ops]") {
  const Tensor x = random_tensor({2, 3, 4});
  std::vector<int> axes = {2};
  axes.push_back(0);
  CHECK(difference_to(sum(x, axes), sum(x, {0, 2})) == "");
  CHECK(difference_to(max(x, axes, true), max(x, {0, 2}, true)) == "");
  CHECK(difference_to(sum(x, std::vector<int>()), x) == "");  // none of them
  CHECK(sum(Tensor::ones({2, 1, 3, 1, 2, 1}), {5, 4, 3, 2, 1, 0}).item() == 12);
  CHECK(complaint([&] { sum(x, std::vector<int>(7)); }, {"axes: 7 given"}) == "");
  CHECK(complaint([&] { sum(x, std::vector<int>{1, 1}); }, {"sum: axis 1 is named twice"}) == "");
}

namespace {

template <class... A>
concept Reduces = requires(A... a) { max(a...); } || requires(A... a) { min(a...); } ||
                  requires(A... a) { sum(a...); } || requires(A... a) { mean(a...); } ||
                  requires(A... a) { var(a...); } || requires(A... a) { prod(a...); };
template <class... A>
concept Clamps = requires(A... a) { clamp(a...); };

// With both names visible it is the one of the standard library.
namespace beside_std {
using namespace std;
constexpr int larger = max(2, 3), smaller = min(2, 3);
constexpr double inside = clamp(7.0, 0.0, 3.0);
}  // namespace beside_std

}  // namespace

TEST_CASE("max(2, 3) is no reduction of a number", "[phase0][ops]") {
  STATIC_REQUIRE(!Reduces<int, int>);
  STATIC_REQUIRE(!Reduces<double, int>);
  STATIC_REQUIRE(!Reduces<double>);
  STATIC_REQUIRE(!Reduces<long, int, bool>);
  STATIC_REQUIRE(!Clamps<int, int, int>);
  STATIC_REQUIRE(Reduces<Tensor, int>);
  STATIC_REQUIRE(Reduces<const Tensor&>);
  STATIC_REQUIRE(Clamps<Tensor, int, double>);
  STATIC_REQUIRE(beside_std::larger == 3);
  STATIC_REQUIRE(beside_std::smaller == 2);
  STATIC_REQUIRE(beside_std::inside == 3);
}
