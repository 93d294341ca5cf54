#include <cmath>
#include <limits>
#include <numbers>

#include "tapestry/plot/dot_plot.hpp"

namespace tapestry::plot {
namespace {

// The chance that |t| is at most sqrt(degrees) tan(angle), for Student's t with that many degrees
// of freedom: a finite series (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
double chance_within(double angle, std::size_t degrees) {
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::size_t k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

// |t| is at most this in 95 of 100 samples.
double t_of_95(std::size_t degrees) {
  double low = 0, high = std::numbers::pi / 2;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (chance_within(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

}  // namespace

MeanInterval mean_interval(std::span<const double> values) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  MeanInterval found{none, none, none, values.size()};
  if (values.empty()) return found;
  const double count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  if (!std::isfinite(sum)) return found;
  found.mean = sum / count;
  for (const double value : values) squares += (value - found.mean) * (value - found.mean);
  const double half = half_of_interval(std::sqrt(squares / (count - 1)), values.size());
  found.low = found.mean - half;
  found.high = found.mean + half;
  return found;
}

double half_of_interval(double deviation, std::size_t count) {
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  return t_of_95(count - 1) * deviation / std::sqrt(static_cast<double>(count));
}

}  // namespace tapestry::plot
