// The reference itself, against numbers worked out by hand or taken from tables.
#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

// float rounds to about 6e-8; the double build must do as well as the digits given here
constexpr double digits = 1e-7;

real of(Unary Table::* entry, real x) {
  real y = 0;
  (reference_set().*entry)(&x, &y, 1);
  return y;
}

real of(UnaryBackward Table::* entry, real dy, real saved) {
  real dx = 0;
  (reference_set().*entry)(&dy, &saved, &dx, 1);
  return dx;
}

}  // namespace

TEST_CASE("reference: functions of one number", "[phase0][kernels]") {
  CHECK(close(of(&Table::exp, 1), real(2.718281828459045), digits, 0));
  CHECK(close(of(&Table::log, 10), real(2.302585092994046), digits, 0));
  CHECK(close(of(&Table::sqrt, 2), real(1.4142135623730951), digits, 0));
  CHECK(close(of(&Table::sin, 1), real(0.8414709848078965), digits, 0));
  CHECK(close(of(&Table::cos, 1), real(0.5403023058681398), digits, 0));
  CHECK(close(of(&Table::tanh, 1), real(0.7615941559557649), digits, 0));
  CHECK(close(of(&Table::erf, 1), real(0.8427007929497149), digits, 0));
  CHECK(close(of(&Table::sigmoid, 2), real(0.8807970779778823), digits, 0));
  CHECK(close(of(&Table::softplus, 0), real(0.6931471805599453), digits, 0));
  CHECK(close(of(&Table::elu, -1), real(-0.6321205588285577), digits, 0));
  CHECK(close(of(&Table::gelu, 1), real(0.8413447460685429), digits, 0));       // normal table
  CHECK(close(of(&Table::gelu, -1), real(-0.15865525393145707), digits, 0));    // 1 - 0.84134...
  CHECK(close(of(&Table::gelu_tanh, 1), real(0.8411919906082768), digits, 0));  // tanh form
  CHECK(of(&Table::relu, -2) == 0);
  CHECK(of(&Table::relu, 2) == 2);
  CHECK(std::isnan(of(&Table::relu, nan)));
}

TEST_CASE("reference: infinities", "[phase0][kernels]") {
  CHECK(of(&Table::exp, -inf) == 0);
  CHECK(of(&Table::exp, inf) == inf);
  CHECK(of(&Table::log, 0) == -inf);
  CHECK(std::isnan(of(&Table::log, -1)));
  CHECK(of(&Table::sigmoid, -inf) == 0);
  CHECK(of(&Table::softplus, inf) == inf);
  CHECK(of(&Table::softplus, -inf) == 0);
  CHECK(of(&Table::elu, -inf) == -1);
  for (auto entry : {&Table::gelu, &Table::gelu_tanh}) {
    CHECK(of(entry, -inf) == 0);  // the limit, not -inf * 0
    CHECK(of(entry, inf) == inf);
    CHECK(std::isnan(of(entry, nan)));
  }
  for (auto entry : {&Table::gelu_backward, &Table::gelu_tanh_backward}) {
    CHECK(of(entry, 2, inf) == 2);
    CHECK(of(entry, 2, -inf) == 0);
  }
}

TEST_CASE("reference: derivatives against differences of the functions", "[phase0][kernels]") {
  struct Pair {
    Unary Table::* function;
    UnaryBackward Table::* derivative;
    bool saves_output;
  };
  const Pair pairs[] = {{&Table::tanh, &Table::tanh_backward, true},
                        {&Table::sigmoid, &Table::sigmoid_backward, true},
                        {&Table::relu, &Table::relu_backward, true},
                        {&Table::elu, &Table::elu_backward, true},
                        {&Table::gelu, &Table::gelu_backward, false},
                        {&Table::gelu_tanh, &Table::gelu_tanh_backward, false},
                        {&Table::softplus, &Table::softplus_backward, false}};
  const real step = real(1) / 128;
  for (const Pair& pair : pairs) {
    for (real x = -3; x < 3; x += real(0.3125)) {
      const double high = of(pair.function, x + step), low = of(pair.function, x - step);
      const double slope = (high - low) / (2 * double(step));
      const real saved = pair.saves_output ? of(pair.function, x) : x;
      CAPTURE(x, &pair - pairs);
      CHECK(close(of(pair.derivative, 1, saved), real(slope), 0, 1e-4));
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
