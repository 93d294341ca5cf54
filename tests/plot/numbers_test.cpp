#include "tapestry/plot/numbers.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

namespace tapestry::plot {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Texts = std::vector<std::string>;

TEST_CASE("numbers are written with few digits and real signs", "[phase0][plot]") {
  CHECK(number_text(0.166, 2) == "0.17");
  CHECK(number_text(-1.5, 1) == "−1.5");
  CHECK(number_text(-0.0001, 2) == "0.00");
  CHECK(number_text(0, 3) == "0.000");
  CHECK(number_text(std::nan(""), 2) == "NaN");
  CHECK(number_text(-infinity, 2) == "−∞");
  CHECK(number_text(infinity, 2) == "∞");
  CHECK(number_text(12345678, 1) == "1.2×10⁷");
  CHECK(number_text(-9.999e8, 1) == "−1.0×10⁹");
  CHECK(number_text(3e-7, 4) == "3.0×10⁻⁷");
  CHECK(superscript(-120) == "⁻¹²⁰");
}

TEST_CASE("linear ticks are round numbers inside the range", "[phase0][plot]") {
  CHECK(tick_texts(linear_ticks(0, 1)) == Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(tick_texts(linear_ticks(-3, 3)) == Texts{"−3", "−2", "−1", "0", "1", "2", "3"});
  CHECK(tick_texts(linear_ticks(0, 0.05)) == Texts{"0", "0.01", "0.02", "0.03", "0.04", "0.05"});
  CHECK(tick_texts(linear_ticks(0, 4e-6)) == Texts{"0", "10⁻⁶", "2×10⁻⁶", "3×10⁻⁶", "4×10⁻⁶"});
  for (const double bad : {1.0, 2.0, infinity, std::nan("")}) {
    CHECK(linear_ticks(bad, 1).empty());
  }
  CHECK(linear_ticks(1, 1 + 1e-15).size() < 1000);
}

TEST_CASE("logarithmic ticks are powers of ten, finer in short ranges", "[phase0][plot]") {
  CHECK(tick_texts(log_ticks(0.1, 1000), true) == Texts{"0.1", "1", "10", "100", "1000"});
  CHECK(tick_texts(log_ticks(1, 50), true) == Texts{"1", "2", "5", "10", "20", "50"});
  CHECK(tick_texts(log_ticks(1e-6, 1e3), true).front() == "10⁻⁶");
  CHECK(log_ticks(1e-12, 1e12, 8).size() <= 9);
  CHECK(log_ticks(0, 10).empty());
  CHECK(log_ticks(-1, 10).empty());
}

TEST_CASE("powers are written sooner on a logarithmic axis", "[phase0][plot]") {
  const auto text = [](double tick, bool log) { return tick_texts({tick}, log).at(0); };
  CHECK(text(2e-4, false) == "0.0002");
  CHECK(text(2e-4, true) == "2×10⁻⁴");
  CHECK(text(0.001, true) == "0.001");
  CHECK(text(20000, false) == "20000");
  CHECK(text(20000, true) == "2×10⁴");
  CHECK(text(10000, true) == "10000");
  CHECK(text(1e6, false) == "10⁶");
}

}  // namespace
}  // namespace tapestry::plot
