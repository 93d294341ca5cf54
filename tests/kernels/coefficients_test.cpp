// The polynomials of the SIMD functions, fitted anew: how good those in coefficients.hpp are, and
// how good any could be.
//
// A fit makes the largest weighted error as small as it gets (minimax), by the exchange algorithm
// of Remez (1934), in double. Its coefficients are then rounded to float one after another, the
// lowest first, and those above are fitted again each time, so that they absorb the rounding. To
// print them beside those in use: run the tests with "[coefficients]".
#include "kernels/coefficients.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

#include "catch.hpp"

namespace tapestry::kernels {
namespace {

using Real = double;
using Function = Real (*)(Real);

const Real ln_2 = std::numbers::ln2_v<Real>, pi = std::numbers::pi_v<Real>;

// What a polynomial stands for: f(x) ~ c[0] + c[1] t(x) + c[2] t(x)^2 + ... on [low, high].
struct Task {
  const char* name;
  std::span<const float> in_use;
  Real low, high;
  Function f, weight;  // the error is weight(x) * (f(x) - polynomial)
  double error;        // of the coefficients in use
};

using Polynomial = std::vector<Real>;

Real value(const Polynomial& c, Real x) {
  Real sum = 0;
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * x + c[i];
  return sum;
}

Real error_at(const Task& task, const Polynomial& c, Real x) {
  return task.weight(x) * (task.f(x) - value(c, x));
}

// The unknowns of linear equations, one in each row with its right side last (Gauss, Jordan).
std::vector<Real> solved(std::vector<std::vector<Real>> rows) {
  const std::size_t n = rows.size();
  std::vector<Real> unknowns(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t largest = i;
    for (std::size_t r = i; r < n; ++r) {
      if (std::abs(rows[r][i]) > std::abs(rows[largest][i])) largest = r;
    }
    std::swap(rows[i], rows[largest]);
    for (std::size_t r = 0; r < n; ++r) {
      const Real factor = r == i ? 0 : rows[r][i] / rows[i][i];
      for (std::size_t column = i; column <= n; ++column)
        rows[r][column] -= factor * rows[i][column];
    }
  }
  for (std::size_t i = 0; i < n; ++i) unknowns[i] = rows[i][n] / rows[i][i];
  return unknowns;
}

// `count` + 1 numbers from low to high, denser towards both ends
std::vector<Real> spread(const Task& task, std::size_t count) {
  std::vector<Real> x;
  for (std::size_t i = 0; i <= count; ++i) {
    const Real share = (1 - std::cos(pi * static_cast<Real>(i) / static_cast<Real>(count))) / 2;
    x.push_back(task.low + (task.high - task.low) * share);
  }
  return x;
}

// The largest error between two numbers that hold one extreme: golden section.
Real extreme_between(const Task& task, const Polynomial& c, Real low, Real high) {
  const Real golden = 0.61803398874989484820;
  for (int i = 0; i < 50; ++i) {
    const Real left = high - golden * (high - low), right = low + golden * (high - low);
    const bool in_left = std::abs(error_at(task, c, left)) > std::abs(error_at(task, c, right));
    (in_left ? high : low) = in_left ? right : left;
  }
  return (low + high) / 2;
}

// Where the error is largest in between two of its zeros, from left to right.
std::vector<Real> extremes(const Task& task, const Polynomial& c) {
  const std::vector<Real> x = spread(task, 2000);
  std::vector<Real> found, height;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real here = error_at(task, c, x[i]);
    const auto lower = [&](std::size_t other) {
      return std::abs(error_at(task, c, x[other])) <= std::abs(here);
    };
    if (here == 0 || (i > 0 && !lower(i - 1)) || (i + 1 < x.size() && !lower(i + 1))) continue;
    const bool inside = i > 0 && i + 1 < x.size();
    const Real top = inside ? extreme_between(task, c, x[i - 1], x[i + 1]) : x[i];
    const Real error = error_at(task, c, top);
    if (found.empty() || (height.back() > 0) != (error > 0)) {
      found.push_back(top);
      height.push_back(error);
    } else if (std::abs(error) > std::abs(height.back())) {
      found.back() = top;
      height.back() = error;
    }
  }
  return found;
}

Real largest_error(const Task& task, const Polynomial& c) {
  Real largest = 0;
  for (const Real x : extremes(task, c))
    largest = std::max(largest, std::abs(error_at(task, c, x)));
  return largest;
}

// One exchange: coefficients beyond the `fixed` ones, whose errors at the points are equal and
// alternate in sign.
Polynomial levelled(const Task& task, const Polynomial& fixed, const std::vector<Real>& points) {
  const std::size_t unknown = points.size() - 1;
  std::vector<std::vector<Real>> rows;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<Real> row;
    Real power = std::pow(points[p], static_cast<Real>(fixed.size()));
    for (std::size_t i = 0; i < unknown; ++i, power *= points[p]) row.push_back(power);
    row.push_back((p % 2 == 0 ? 1 : -1) / task.weight(points[p]));
    row.push_back(task.f(points[p]) - value(fixed, points[p]));
    rows.push_back(row);
  }
  Polynomial c = fixed;
  const std::vector<Real> found = solved(rows);
  c.insert(c.end(), found.begin(), found.end() - 1);
  return c;
}

// The best polynomial that begins with the `fixed` coefficients.
Polynomial fitted(const Task& task, const Polynomial& fixed) {
  const std::size_t unknown = task.in_use.size() - fixed.size();
  std::vector<Real> points;  // at first the zeros of a Chebyshev polynomial
  for (std::size_t i = 0; i <= unknown; ++i) {
    const Real angle = pi * (static_cast<Real>(i) + 0.5) / static_cast<Real>(unknown + 1);
    points.push_back((task.low + task.high - (task.high - task.low) * std::cos(angle)) / 2);
  }
  Polynomial c;
  for (int round = 0; round < 30; ++round) {
    c = levelled(task, fixed, points);
    std::vector<Real> next = extremes(task, c);
    while (next.size() > unknown + 1) {  // an extreme too many: the lower one of the ends goes
      const bool first =
          std::abs(error_at(task, c, next.front())) < std::abs(error_at(task, c, next.back()));
      next.erase(first ? next.begin() : next.end() - 1);
    }
    if (next.size() <= unknown) break;  // as level as rounding allows
    points = next;
  }
  return c;
}

Polynomial rounded_fit(const Task& task) {
  Polynomial c;
  while (c.size() < task.in_use.size()) {
    c.push_back(static_cast<float>(fitted(task, c)[c.size()]));
  }
  return c;
}

// ---- What the polynomials stand for. Near 0, where a difference of functions would lose its
// digits, by their series.

Real exp_rest(Real r) {  // (exp(r) - 1 - r) / r^2
  Real sum = 0;
  for (int i = 20; i >= 2; --i) sum = (sum * r + 1) / static_cast<Real>(i);
  return sum;
}
Real exp2_rest(Real r) { return r == 0 ? ln_2 : std::expm1(r * ln_2) / r; }
Real atanh_rest(Real z) {  // 2 (1/3 + z/5 + z^2/7 + ...)
  Real sum = 0;
  for (int i = 40; i >= 0; --i) sum = sum * z + 2 / static_cast<Real>(2 * i + 3);
  return sum;
}
Real tanh_rest(Real z) {
  const Real a = std::sqrt(z);
  return z < 1e-6 ? -1 / 3.0 + 2 * z / 15 : (std::tanh(a) - a) / (a * z);
}
Real erf_rest(Real z) { return std::erf(std::sqrt(z)) / std::sqrt(z) - 1; }
Real normal_tail(Real a) { return std::erfc(a / std::numbers::sqrt2_v<Real>) / 2; }
Real gelu_slope(Real a) {
  const Real density = std::exp(-a * a / 2) / std::sqrt(2 * pi);
  return (normal_tail(a) - a * density) * std::exp(a * a / 2);
}
Real sin_rest(Real z) {  // -1/3! + z/5! - ...
  Real sum = 0;
  for (int i = 12; i >= 1; --i) sum = (1 - sum * z) / static_cast<Real>((2 * i) * (2 * i + 1));
  return -sum;
}
Real cos_rest(Real z) {  // 1/4! - z/6! + ...
  Real sum = 0;
  for (int i = 12; i >= 2; --i) sum = (1 - sum * z) / static_cast<Real>((2 * i - 1) * (2 * i));
  return sum / 2;
}

constexpr Real nearly_0 = 1e-9;  // where the weight at 0 itself is 0 or not a number

const std::vector<Task>& tasks() {
  using namespace coefficients;
  static const std::vector<Task> all = {
      {"exp", coefficients::exp, -ln_2 / 2, ln_2 / 2, exp_rest,
       [](Real r) { return std::max(r * r, nearly_0) / std::exp(r); }, 3.14e-9},
      {"exp2", coefficients::exp2, -0.5, 0.5, exp2_rest,
       [](Real r) { return std::max(std::abs(r), nearly_0) / std::exp2(r); }, 2.13e-8},
      {"exp2_above", exp2_above, 0, 1, exp2_rest,
       [](Real r) { return std::max(r, nearly_0) / std::exp2(r); }, 9.38e-8},
      {"atanh_tail", atanh_tail, nearly_0, 1 / 9.0, atanh_rest,
       [](Real z) { return std::sqrt(z) * z / (2 * std::atanh(std::sqrt(z))); }, 2.63e-11},
      {"tanh", coefficients::tanh, nearly_0, 0.49, tanh_rest,
       [](Real z) { return std::sqrt(z) * z / std::tanh(std::sqrt(z)); }, 7.47e-10},
      {"erf", coefficients::erf, nearly_0, 1, erf_rest,
       [](Real z) { return std::sqrt(z) / std::erf(std::sqrt(z)); }, 1.51e-9},
      {"log_erfc", log_erfc, 1, 4, [](Real a) { return std::log(std::erfc(a)); },
       [](Real a) { return std::erfc(a) / std::erf(a); }, 2.44e-11},
      {"log2_normal_tail", log2_normal_tail, nearly_0, 6,
       [](Real a) { return std::log2(normal_tail(a)); },
       [](Real a) { return a * normal_tail(a) * ln_2; }, 2.55e-8},
      {"gelu_slope", coefficients::gelu_slope, 0, 6, gelu_slope,
       [](Real a) { return std::exp(-a * a / 2); }, 6.65e-8},
      {"sin", coefficients::sin, nearly_0, pi * pi / 16, sin_rest,
       [](Real z) { return std::sqrt(z) * z / std::sin(std::sqrt(z)); }, 1.75e-10},
      {"cos", coefficients::cos, nearly_0, pi * pi / 16, cos_rest,
       [](Real z) { return z * z / std::cos(std::sqrt(z)); }, 8.79e-12},
  };
  return all;
}

Polynomial in_use(const Task& task) { return {task.in_use.begin(), task.in_use.end()}; }

}  // namespace

TEST_CASE("the coefficients in use have the errors that are stated", "[phase0][kernels]") {
  for (const Task& task : tasks()) {
    const auto error = static_cast<double>(largest_error(task, in_use(task)));
    CAPTURE(task.name, error, task.error);
    CHECK(error <= task.error);
    CHECK(error >= 0.98 * task.error);
  }
}

TEST_CASE("no polynomials of these degrees would be better by as much as floats round",
          "[phase0][kernels]") {
  for (const Task& task : tasks()) {
    const Real best = largest_error(task, fitted(task, {}));
    const Real error = largest_error(task, in_use(task));
    CAPTURE(task.name, static_cast<double>(best), static_cast<double>(error));
    CHECK(best <= error);
    CHECK(error - best <= 2.1e-8);  // a third of half a distance of floats near 1
  }
}

TEST_CASE("fits of every polynomial, rounded, beside those in use", "[.coefficients]") {
  for (const Task& task : tasks()) {
    const Polynomial ours = rounded_fit(task);
    std::printf("%s: error %.3g, in use %.3g; the best without rounding %.3g\n", task.name,
                largest_error(task, ours), largest_error(task, in_use(task)),
                largest_error(task, fitted(task, {})));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      std::printf("  %17.9gf  %17.9gf\n", ours[i], static_cast<double>(task.in_use[i]));
    }
    CHECK(ours.size() == task.in_use.size());
  }
}

}  // namespace tapestry::kernels
