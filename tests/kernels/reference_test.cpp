// The reference itself, against numbers worked out by hand or taken from tables.
#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

// float rounds to about 6e-8; the double build must do as well as the digits given here
constexpr double digits = 1e-7;

template <class F>
real of(real x) {
  real y = 0;
  reference_set().of<F>()(&x, &y, 1);
  return y;
}

template <class F>
real backward_of(real dy, real saved) {
  real dx = 0;
  reference_set().backward_of<F>()(&dy, &saved, &dx, 1);
  return dx;
}

}  // namespace

TEST_CASE("reference: functions of one number", "[phase0][kernels]") {
  CHECK(close(of<Exp>(1), real(2.718281828459045), digits, 0));
  CHECK(close(of<Log>(10), real(2.302585092994046), digits, 0));
  CHECK(close(of<Sqrt>(2), real(1.4142135623730951), digits, 0));
  CHECK(close(of<Sin>(1), real(0.8414709848078965), digits, 0));
  CHECK(close(of<Cos>(1), real(0.5403023058681398), digits, 0));
  CHECK(close(of<Tanh>(1), real(0.7615941559557649), digits, 0));
  CHECK(close(of<Erf>(1), real(0.8427007929497149), digits, 0));
  CHECK(close(of<Sigmoid>(2), real(0.8807970779778823), digits, 0));
  CHECK(close(of<Softplus>(0), real(0.6931471805599453), digits, 0));
  CHECK(close(of<Elu>(-1), real(-0.6321205588285577), digits, 0));
  CHECK(close(of<Gelu>(1), real(0.8413447460685429), digits, 0));      // normal table
  CHECK(close(of<Gelu>(-1), real(-0.15865525393145707), digits, 0));   // 1 - 0.84134...
  CHECK(close(of<GeluTanh>(1), real(0.8411919906082768), digits, 0));  // tanh form
  CHECK(close(of<Silu>(1), real(0.7310585786300049), digits, 0));      // sigmoid(1)
  CHECK(close(of<Silu>(-1), real(-0.2689414213699951), digits, 0));    // -sigmoid(-1)
  CHECK(close(of<Mish>(1), real(0.8650983882673103), digits, 0));
  CHECK(close(of<Mish>(-1), real(-0.30340146137410895), digits, 0));
  CHECK(of<Relu>(-2) == 0);
  CHECK(of<Relu>(2) == 2);
  CHECK(std::isnan(of<Relu>(nan)));
}

TEST_CASE("reference: infinities", "[phase0][kernels]") {
  CHECK(of<Exp>(-inf) == 0);
  CHECK(of<Exp>(inf) == inf);
  CHECK(of<Log>(0) == -inf);
  CHECK(std::isnan(of<Log>(-1)));
  CHECK(of<Sigmoid>(-inf) == 0);
  CHECK(of<Softplus>(inf) == inf);
  CHECK(of<Softplus>(-inf) == 0);
  CHECK(of<Elu>(-inf) == -1);
  // the limits, not -inf * 0
  CHECK((of<Gelu>(-inf) == 0 && of<GeluTanh>(-inf) == 0 && of<Silu>(-inf) == 0));
  CHECK((of<Gelu>(inf) == inf && of<GeluTanh>(inf) == inf && of<Silu>(inf) == inf));
  CHECK((std::isnan(of<Gelu>(nan)) && std::isnan(of<GeluTanh>(nan)) && std::isnan(of<Silu>(nan))));
  CHECK((of<Mish>(-inf) == 0 && of<Mish>(inf) == inf && std::isnan(of<Mish>(nan))));
  CHECK((backward_of<Mish>(2, inf) == 2 && backward_of<Mish>(2, -inf) == 0));
  CHECK((backward_of<Gelu>(2, inf) == 2 && backward_of<GeluTanh>(2, inf) == 2));
  CHECK((backward_of<Silu>(2, inf) == 2 && backward_of<Silu>(2, -inf) == 0));
  CHECK((backward_of<Gelu>(2, -inf) == 0 && backward_of<GeluTanh>(2, -inf) == 0));
}

TEST_CASE("reference: derivatives against differences of the functions", "[phase0][kernels]") {
  const real step = real(1) / 128, one = 1;
  for (const FunctionRow& row : unary_rows()) {
    if (!row.backward) continue;
    for (real x = -3; x < 3; x += real(0.3125)) {
      const double high = row.plain(double(x + step)), low = row.plain(double(x - step));
      const real saved = row.saves_output ? real(row.plain(double(x))) : x;
      real derivative = nan;
      reference_set().unary_backward[row.place](&one, &saved, &derivative, 1);
      CAPTURE(x, row.name);
      CHECK(close(derivative, real((high - low) / (2 * double(step))), 0, 1e-4));
    }
  }
}

TEST_CASE("reference: softmax, layer normalisation and their gradients by hand",
          "[phase0][kernels]") {
  const Table& t = reference_set();
  const real x[] = {0, real(0.6931471805599453)};  // exp: 1 and 2
  real y[2], lse, mean[2], inverse, dx[2], sums[4] = {};
  t.softmax(x, y, 1, 2);
  CHECK(first_apart({y, y + 2}, {real(1) / 3, real(2) / 3}, digits, 0) == -1);
  t.logsumexp(x, &lse, 1, 2);
  CHECK(close(lse, real(1.0986122886681098), digits, 0));  // log 3
  const real dy[] = {3, 0};                                // sum(dy y) = 1
  t.softmax_backward(dy, y, dx, 1, 2);
  CHECK(first_apart({dx, dx + 2}, {real(2) / 3, real(-2) / 3}, digits, 0) == -1);

  const real z[] = {1, 3}, gain[] = {2, 4}, bias[] = {10, 20};  // mean 2, variance 1
  t.layer_norm(z, gain, bias, 0, y, mean, &inverse, 1, 2);
  CHECK(first_apart({y, y + 2}, {8, 24}, digits, 0) == -1);
  CHECK((mean[0] == 2 && mean[1] == 0 && inverse == 1));
  t.layer_norm_backward(dy, z, gain, mean, &inverse, dx, sums, 1, 2, 1);
  // g = (6, 0), mean(g) = 3, normalised (-1, 1), mean(g z) = -3: both differences vanish
  CHECK(first_apart({dx, dx + 2}, {0, 0}, 0, 1e-6) == -1);
  CHECK(first_apart({sums, sums + 4}, {-3, 0, 3, 0}, 0, 0) == -1);  // gain, then bias
}

TEST_CASE("reference: a product, a step of Adam and a step of SGD by hand", "[phase0][kernels]") {
  const Table& t = reference_set();
  const real a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
  real c[4];
  t.matmul(2, 2, 3, a, 3, 1, b, 2, 1, c, 2);
  CHECK(first_apart({c, c + 4}, {58, 64, 139, 154}, 0, 0) == -1);

  real weight = 1, velocity = 2, mean = 0, square = 0;
  const real gradient = 4;
  t.sgd(&weight, &gradient, &velocity, {real(0.5), real(0.25), 0, false}, 1);
  CHECK((velocity == real(4.5) && weight == real(-1.25)));
  t.sgd(&weight, &gradient, &velocity, {real(0.5), real(0.5), real(0.25), true}, 1);
  CHECK((velocity == real(6.25) && weight == real(-4.65625)));  // -1.25 * 0.875 - 0.5 * 7.125
  weight = 1;
  // First step: the corrected mean is g, the corrected square g^2, so the step is rate * sign(g).
  const AdamStep step{real(0.125), real(0.5), real(0.75), 0, 0, real(0.5), real(0.25)};
  t.adam(&weight, &gradient, &mean, &square, step, 1);
  CHECK((mean == 2 && square == 4 && weight == real(0.875)));
}

}  // namespace tapestry::kernels
