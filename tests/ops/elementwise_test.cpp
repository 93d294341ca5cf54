// sqrt exp log sin cos tanh erf sigmoid softplus relu elu gelu gelu_tanh mish silu abs sign floor
// ceil round.
#include <cmath>
#include <numbers>
#include <vector>

#include "catch.hpp"
#include "kernels/table.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double relu_of(double x) { return x <= 0 ? 0 : x; }
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double elu_of(double x) { return x > 0 ? x : std::expm1(x); }
double gelu_of(double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh_of(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// tanh(log(u)) = (u^2 - 1) / (u^2 + 1), here with u = 1 + exp(x)
double mish_of(double x) {
  const double e = std::exp(x), square = e * (e + 2);
  return x * square / (square + 2);
}
double silu_of(double x) { return x / (1 + std::exp(-x)); }

struct Unary {
  const char* name;
  Tensor (*f)(const Tensor&);
  double (*reference)(double);
  double low, high;                // where values are compared
  double smooth_low, smooth_high;  // where gradients are compared: no kink, no pole
  double at_minus_infinity, at_infinity;
};

const std::vector<Unary> functions = {
    {"sqrt", sqrt, std::sqrt, 0, 100, 0.5, 4, NAN, infinity},
    {"exp", exp, std::exp, -20, 5, -2, 2, 0, infinity},
    {"log", log, std::log, 1e-6, 100, 0.5, 4, NAN, infinity},
    {"sin", sin, std::sin, -10, 10, -3, 3, NAN, NAN},
    {"cos", cos, std::cos, -10, 10, -3, 3, NAN, NAN},
    {"tanh", tanh, std::tanh, -12, 12, -2, 2, -1, 1},
    {"erf", erf, std::erf, -5, 5, -2, 2, -1, 1},
    {"sigmoid", sigmoid, sigmoid_of, -20, 20, -4, 4, 0, 1},
    {"softplus", softplus, softplus_of, -30, 30, -4, 4, 0, infinity},
    {"relu", relu, relu_of, -3, 3, 0.2, 3, 0, infinity},
    {"relu, below 0", relu, relu_of, -3, 3, -3, -0.2, 0, infinity},
    {"elu", elu, elu_of, -20, 3, 0.2, 3, -1, infinity},
    {"elu, below 0", elu, elu_of, -20, 3, -3, -0.2, -1, infinity},
    {"gelu", gelu, gelu_of, -6, 6, -3, 3, 0, infinity},
    {"gelu_tanh", gelu_tanh, gelu_tanh_of, -6, 6, -3, 3, 0, infinity},
    {"mish", mish, mish_of, -20, 20, -4, 4, 0, infinity},
    {"silu", silu, silu_of, -20, 20, -4, 4, 0, infinity},
    {"abs", abs, std::fabs, -3, 3, 0.2, 3, infinity, infinity},
    {"abs, below 0", abs, std::fabs, -3, 3, -3, -0.2, infinity, infinity},
    {"sign", sign, sign_of, -3, 3, 0.2, 3, -1, 1},
    {"floor", floor, std::floor, -9, 9, 1.2, 1.8, -infinity, infinity},
    {"ceil", ceil, std::ceil, -9, 9, -1.8, -1.2, -infinity, infinity},
    {"round", round, std::nearbyint, -9, 9, 1.6, 2.4, -infinity, infinity},
};

std::string wrong_values(const Unary& function, const Tensor& x) {
  return difference(function.f(x), x.shape(), tabulate(x.shape(), [&](const Place& place) {
                      return function.reference(element(x, place));
                    }));
}

}  // namespace

TEST_CASE("functions of each element agree with the standard library", "[phase0][ops]") {
  for (const Unary& function : functions) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{3, 0}, Shape{7}, Shape{3, 41}}) {
      CAPTURE(function.name, to_string(shape));
      CHECK(wrong_values(function, random_between(shape, function.low, function.high)) == "");
    }
    const Tensor x = random_between({9, 14}, function.low, function.high);
    CAPTURE(function.name);
    CHECK(wrong_values(function, transpose(x)) == "");
    CHECK(wrong_values(function, slice(x, 1, 1, 14, 3)) == "");
    CHECK(wrong_values(function, expand(slice(x, 0, 0, 1), {4, 14})) == "");
  }
}

TEST_CASE("no function of the table of kernels is missing here", "[phase0][ops]") {
  kernels::UnaryFunctions::each([](auto f) {
    const std::string name = decltype(f)::name;
    if (name == "negate" || name == "isnan") return;  // arithmetic_test.cpp, compare_test.cpp
    CAPTURE(name);
    const auto is_named = [&](const Unary& function) { return name == function.name; };
    CHECK(std::any_of(functions.begin(), functions.end(), is_named));
  });
}

TEST_CASE("functions of each element have the right gradient", "[phase0][ops]") {
  for (const Unary& function : functions) {
    CAPTURE(function.name);
    const Tensor x = random_between({5, 9}, function.smooth_low, function.smooth_high);
    CHECK(wrong_gradient([&](const std::vector<Tensor>& in) { return function.f(in[0]); }, {x}) ==
          "");
    CHECK(wrong_gradient(
              [&](const std::vector<Tensor>& in) {
                return function.f(slice(transpose(in[0]), 0, 0, 9, 2));
              },
              {x}) == "");
    const Tensor nothing = Tensor::zeros({0, 3});
    CHECK(slope(function.f, nothing).shape() == Shape{0, 3});
  }
}

TEST_CASE("functions of each element at NaN and the infinities", "[phase0][ops]") {
  for (const Unary& function : functions) {
    CAPTURE(function.name);
    for (const Index length : {1, 19}) {
      const Shape shape{length};
      const auto all = [&](double value) {
        return std::vector<double>(static_cast<std::size_t>(length), value);
      };
      CHECK(difference(function.f(Tensor::full(shape, NAN)), shape, all(NAN)) == "");
      CHECK(difference(function.f(Tensor::full(shape, infinity)), shape,
                       all(function.at_infinity)) == "");
      CHECK(difference(function.f(Tensor::full(shape, -infinity)), shape,
                       all(function.at_minus_infinity)) == "");
    }
  }
}

TEST_CASE("a NaN in one element leaves its neighbours alone", "[phase0][ops]") {
  for (const Unary& function : functions) {
    for (const Index place : {0, 5, 16}) {
      CAPTURE(function.name, place);
      Tensor x = random_between({17}, function.smooth_low, function.smooth_high);
      x.set({place}, NAN);
      CHECK(wrong_values(function, x) == "");
      const std::vector<double> gradient = doubles(slope(function.f, x));
      bool others_finite = true;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (static_cast<Index>(i) != place) others_finite &= std::isfinite(gradient[i]);
      }
      CHECK(others_finite);
    }
  }
}

TEST_CASE("functions stay right where exp would overflow", "[phase0][ops]") {
  const Tensor x({4}, {-1000, -100, 100, 1000});
  CHECK(difference(sigmoid(x), {4}, {0, 0, 1, 1}) == "");
  CHECK(difference(tanh(x), {4}, {-1, -1, 1, 1}) == "");
  CHECK(difference(softplus(x), {4}, {0, 0, 100, 1000}) == "");
  CHECK(difference(elu(x), {4}, {-1, -1, 100, 1000}) == "");
  CHECK(difference(gelu(x), {4}, {0, 0, 100, 1000}) == "");
  CHECK(difference(gelu_tanh(x), {4}, {0, 0, 100, 1000}) == "");
  CHECK(difference(mish(x), {4}, {0, 0, 100, 1000}) == "");
  CHECK(difference(silu(x), {4}, {0, 0, 100, 1000}) == "");
  CHECK(difference(exp(x), {4}, {0, 0, in_double ? std::exp(100.0) : infinity, infinity}) == "");
  for (const auto f : {sigmoid, tanh}) CHECK(difference(slope(f, x), {4}, {0, 0, 0, 0}) == "");
  for (const auto f : {softplus, elu, gelu, gelu_tanh, mish, silu}) {
    CHECK(difference(slope(f, x), {4}, {0, 0, 1, 1}) == "");
  }
}

TEST_CASE("gradients at kinks and poles are as documented", "[phase0][ops]") {
  const Tensor x({3}, {-1, 0, 1});
  CHECK(difference(slope(relu, x), {3}, {0, 0, 1}) == "");
  CHECK(difference(slope(elu, x), {3}, {std::exp(-1.0), 1, 1}) == "");
  CHECK(difference(slope(tapestry::abs, x), {3}, {-1, 0, 1}) == "");
  CHECK(difference(slope(tapestry::sqrt, Tensor({2}, {0, 4})), {2}, {infinity, 0.25}) == "");
  CHECK(difference(log(x), {3}, {NAN, -infinity, 0}) == "");
  CHECK(difference(sqrt(x), {3}, {NAN, 0, 1}) == "");
  CHECK(difference(slope(tapestry::log, Tensor({2}, {0, 4})), {2}, {infinity, 0.25}) == "");
}

TEST_CASE("steps: halves go to the even neighbour, large numbers stay", "[phase0][ops]") {
  const Tensor x({8}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 8388609, -3e30});
  CHECK(difference(round(x), {8}, {-2, -2, 0, 0, 2, 2, 8388609, double{real(-3e30)}}, 0) == "");
  CHECK(difference(floor(x), {8}, {-3, -2, -1, 0, 1, 2, 8388609, double{real(-3e30)}}, 0) == "");
  CHECK(difference(ceil(x), {8}, {-2, -1, 0, 1, 2, 3, 8388609, double{real(-3e30)}}, 0) == "");
  CHECK(difference(sign(Tensor({3}, {-0.0, 0, -1e-40})), {3}, {0, 0, -1}, 0) == "");
  for (const auto f : {round, floor, ceil, tapestry::sign}) {
    CHECK(difference(slope(f, x), {8}, std::vector<double>(8, 0)) == "");
  }
}
