#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "tapestry/plot/dot_plot.hpp"

namespace tapestry::plot {
namespace {

// Zeros and ones in equal numbers, or one more zero: their deviation is known.
std::vector<double> coins(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i % 2);
  return values;
}

// The quantile that the interval of these values was made with.
double quantile(const std::vector<double>& values) {
  const MeanInterval found = mean_interval(values);
  double squares = 0;
  const double n = static_cast<double>(values.size());
  for (const double value : values) squares += std::pow(value - found.mean, 2);
  return (found.high - found.mean) / std::sqrt(squares / (n - 1) / n);
}

TEST_CASE("the interval of a mean is that of Student's tables", "[phase5][plot]") {
  // Two-sided 95 %, from printed tables: degrees of freedom, t.
  const std::vector<std::pair<std::size_t, double>> table{
      {1, 12.7062},  {2, 4.30265},  {3, 3.18245},  {4, 2.77645},   {5, 2.57058},   {9, 2.26216},
      {10, 2.22814}, {29, 2.04523}, {30, 2.04227}, {120, 1.97993}, {1000, 1.96234}};
  for (const auto& [degrees, t] : table) {
    CAPTURE(degrees);
    CHECK(quantile(coins(degrees + 1)) == Approx(t).epsilon(3e-6));
  }
}

TEST_CASE("a mean lies in the middle of its interval", "[phase5][plot]") {
  const std::vector<double> values{3, 5, 10};
  const MeanInterval found = mean_interval(values);
  CHECK(found.count == 3);
  CHECK(found.mean == 6);
  CHECK(found.high - found.mean == Approx(4.30265 * std::sqrt(13.0 / 3)).epsilon(1e-5));
  CHECK(found.mean - found.low == Approx(found.high - found.mean));
}

TEST_CASE("a mean far from zero has as sharp an interval", "[phase5][plot]") {
  const auto half = [](double offset) {
    const MeanInterval found = mean_interval(std::vector<double>{offset, offset + 1, offset + 3});
    return found.high - found.mean;
  };
  CHECK(half(1e9) == Approx(half(0)));
}

TEST_CASE("of 2000 samples of a known mean, about 95 % have it in their interval",
          "[phase5][plot]") {
  // Sums of twelve uniform numbers are nearly normal, with mean 6.
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  int inside = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    std::vector<double> values(4);
    for (double& value : values) {
      for (int k = 0; k < 12; ++k) value += uniform();
    }
    const MeanInterval found = mean_interval(values);
    inside += found.low <= 6 && 6 <= found.high ? 1 : 0;
  }
  CHECK(inside > 1900 - 40);  // 9.7 is the standard deviation
  CHECK(inside < 1900 + 40);
}

TEST_CASE("too few values have no interval, equal ones have one without length", "[phase5][plot]") {
  const MeanInterval none = mean_interval({});
  CHECK(none.count == 0);
  CHECK(std::isnan(none.mean));
  CHECK(std::isnan(none.low));
  const MeanInterval one = mean_interval(std::vector<double>{7});
  CHECK(one.mean == 7);
  CHECK(std::isnan(one.low));
  CHECK(std::isnan(one.high));
  CHECK(std::isnan(half_of_interval(1, 0)));
  CHECK(std::isnan(half_of_interval(1, 1)));
  CHECK(half_of_interval(2, 4) == Approx(3.18245));
  const MeanInterval equal = mean_interval(std::vector<double>{2, 2, 2});
  CHECK(equal.low == 2);
  CHECK(equal.high == 2);
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const MeanInterval found = mean_interval(std::vector<double>{1, wrong, 3});
    CHECK(found.count == 3);
    CHECK(std::isnan(found.mean));
    CHECK(std::isnan(found.low));
    CHECK(std::isnan(found.high));
  }
}

}  // namespace
}  // namespace tapestry::plot
