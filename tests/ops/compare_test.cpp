// < <= > >= == != isnan: against C++'s own comparisons, NaN and infinities, broadcasting, no
// gradient.
#include <cmath>
#include <functional>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

struct Comparison {
  const char* name;
  Tensor (*f)(const Tensor&, const Tensor&);
  bool (*reference)(double, double);
};

const std::vector<Comparison> comparisons = {
    {"<", operator<, [](double a, double b) { return a < b; }},
    {"<=", operator<=, [](double a, double b) { return a <= b; }},
    {">", operator>, [](double a, double b) { return a > b; }},
    {">=", operator>=, [](double a, double b) { return a >= b; }},
    {"==", operator==, [](double a, double b) { return a == b; }},
    {"!=", operator!=, [](double a, double b) { return a != b; }},
};

// Small whole numbers, so that many are equal, and every special one.
Tensor numbers(const Shape& shape, std::uint64_t seed) {
  const Tensor x = random_between(shape, -2, 2, seed);
  const double special[] = {NAN, infinity, -infinity, 0, -0.0};
  for (Index i = 0; i < x.numel(); ++i) {
    real& value = x.data()[i];
    value = std::round(value);
    if (i % 3 == 0)
      value = static_cast<real>(special[(static_cast<std::size_t>(i) / 3 + seed) % 5]);
  }
  return x;
}

std::string wrong(const Comparison& c, const Tensor& a, const Tensor& b, const Shape& shape) {
  return difference(c.f(a, b), shape, tabulate(shape, [&](const Place& place) {
                      return c.reference(element(a, place), element(b, place)) ? 1.0 : 0.0;
                    }));
}

}  // namespace

TEST_CASE("comparisons agree with those of C++, NaN and infinities included", "[phase0][ops]") {
  for (const Comparison& c : comparisons) {
    CAPTURE(c.name);
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{37}, Shape{5, 11}}) {
      CHECK(wrong(c, numbers(shape, 1), numbers(shape, 2), shape) == "");
    }
    CHECK(wrong(c, numbers({7, 1}, 1), numbers({9}, 2), {7, 9}) == "");  // broadcasting
    CHECK(wrong(c, transpose(numbers({9, 7}, 1)), numbers({7, 9}, 3), {7, 9}) == "");
    CHECK(wrong(c, numbers({40}, 3), 1, {40}) == "");
    CHECK(wrong(c, 0, numbers({40}, 4), {40}) == "");
    CHECK(complaint([&] { c.f(Tensor::zeros({2}), Tensor::zeros({3})); }, {c.name, "(2)", "(3)"}) ==
          "");
  }
}

TEST_CASE("isnan marks NaN, and nothing else", "[phase0][ops]") {
  const Tensor x({2, 3}, {NAN, 1, infinity, -infinity, 0, -NAN});
  CHECK(difference(isnan(x), {2, 3}, {1, 0, 0, 0, 0, 1}) == "");
  CHECK(difference(isnan(transpose(x)), {3, 2}, {1, 0, 0, 0, 0, 1}) == "");
  CHECK(isnan(Tensor::zeros({0, 2})).shape() == Shape{0, 2});
}

TEST_CASE("a comparison is a constant to the tape", "[phase0][ops]") {
  const Tensor x({3}, {-1, 0.5, 2});
  CHECK(difference(slope([](const Tensor& in) { return in * (in > 0); }, x), {3}, {0, 1, 1}) == "");
  Tape tape({x});
  const Tensor only = (x > 0) + isnan(x);
  CHECK(complaint([&] { tape.backward(only, Tensor::ones({3})); }, {"backward"}) == "");
}
