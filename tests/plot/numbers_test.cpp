#include "tapestry/plot/numbers.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

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
  CHECK(number_text(1.0 / 3, 20) == "0.33333333333333331");  // at most 17 decimals
}

TEST_CASE("powers of ten begin at a million and below a hundred-thousandth", "[phase0][plot]") {
  CHECK(number_text(999'999, 0) == "999999");
  CHECK(number_text(1e6, 1) == "1.0×10⁶");
  CHECK(number_text(1.5e6, 2) == "1.50×10⁶");
  CHECK(number_text(12345678, 4) == "1.23×10⁷");
  CHECK(number_text(1.5e-5, 4) == "0.0000");
  CHECK(number_text(1e-5, 4) == "0.0000");
  CHECK(number_text(7e-6, 4) == "7.0×10⁻⁶");
  CHECK(number_text(1e-7, 4) == "1.0×10⁻⁷");
  CHECK(number_text(3e-7, 3) == "3.0×10⁻⁷");
  CHECK(number_text(3e-7, 2) == "0.00");
}

TEST_CASE("a tick has the decimals that it needs, for ten digits that count", "[phase0][plot]") {
  const auto text = [](double tick) { return tick_texts({tick}).at(0); };
  CHECK(text(0.125) == "0.125");
  CHECK(text(2.0 / 3) == "0.6666666667");
  CHECK(text(2.0 / 30) == "0.06666666667");
  CHECK(text(1.0 / 3000) == "0.000333333333");  // at most 12
  CHECK(text(3.0000015) == "3.0000015");
  CHECK(text(3.0000007) == "3");
  CHECK(text(20000.000003) == "20000.000003");
  CHECK(text(20000.0000015) == "20000");
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

TEST_CASE("linear ticks go in steps of 1, 2 or 5, whichever is nearest", "[phase0][plot]") {
  using Ticks = std::vector<double>;
  CHECK(linear_ticks(0, 1, 1) == Ticks{0, 1});
  CHECK(linear_ticks(0, 1, 0) == Ticks{0, 1});
  CHECK(linear_ticks(0, 1.5, 1) == Ticks{0});  // 2 would be next
  CHECK(linear_ticks(0, 2, 1) == Ticks{0, 2});
  CHECK(linear_ticks(0, 3.5, 1) == Ticks{0});
  CHECK(linear_ticks(0, 5, 1) == Ticks{0, 5});
  CHECK(linear_ticks(0, 7.5, 1) == Ticks{0});
  CHECK(linear_ticks(0, 8, 1) == Ticks{0});
  CHECK(linear_ticks(0, 18, 2) == Ticks{0, 10});
  CHECK(linear_ticks(0, 1, 5000).size() == 1000);
  CHECK(linear_ticks(1e308, 1.7e308).size() > 2);
  CHECK(linear_ticks(5e-324, 1e-323).empty());  // no step is so small
  CHECK_FALSE(std::signbit(linear_ticks(-0.1, 1).front()));
}

TEST_CASE("a tick may lie outside by a billionth of the range", "[phase0][plot]") {
  CHECK(linear_ticks(0, 1 - 0.7e-9).size() == 6);
  CHECK(linear_ticks(0, 1 - 1.5e-9).size() == 5);
  CHECK(linear_ticks(-1, 1 - 1.4e-9).back() == 1);
  CHECK(log_ticks(1 + 0.7e-9, 50).front() == 1);
  CHECK(log_ticks(1 + 1.5e-9, 50).front() == 2);
  CHECK(log_ticks(1, 50 * (1 - 0.7e-9)).back() == 50);
  CHECK(log_ticks(1, 50 * (1 - 1.5e-9)).back() == 20);
}

TEST_CASE("logarithmic ticks are powers of ten, finer in short ranges", "[phase0][plot]") {
  CHECK(tick_texts(log_ticks(0.1, 1000), true) == Texts{"0.1", "1", "10", "100", "1000"});
  CHECK(tick_texts(log_ticks(1, 50), true) == Texts{"1", "2", "5", "10", "20", "50"});
  CHECK(tick_texts(log_ticks(1e-6, 1e3), true).front() == "10⁻⁶");
  using Ticks = std::vector<double>;
  CHECK(log_ticks(1, 100) == Ticks{1, 10, 100});
  CHECK(log_ticks(1, 30) == Ticks{1, 2, 5, 10, 20});
  CHECK(log_ticks(2, 50) == Ticks{2, 5, 10, 20, 50});
  CHECK(log_ticks(2, 9) == Ticks{2, 5});
  CHECK(log_ticks(20, 3000) == Ticks{20, 50, 100, 200, 500, 1000, 2000});
  CHECK(log_ticks(200, 3e5) == Ticks{1e3, 1e4, 1e5});
  CHECK(log_ticks(1e-12, 1e12, 8) == Ticks{1e-12, 1e-8, 1e-4, 1, 1e4, 1e8, 1e12});
  CHECK(log_ticks(1e-11, 1e12, 8) == Ticks{1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9, 1e12});
  CHECK(log_ticks(1, 1e4, 1) == Ticks{1});
  CHECK(log_ticks(1, 1e4, 0) == Ticks{1, 1e4});
  CHECK(log_ticks(10, 10).empty());
  CHECK(log_ticks(0, 10).empty());
  CHECK(log_ticks(-1, 10).empty());
}

TEST_CASE("powers are written sooner on a logarithmic axis", "[phase0][plot]") {
  const auto text = [](double tick, bool log) { return tick_texts({tick}, log).at(0); };
  CHECK(text(2e-4, false) == "0.0002");
  CHECK(text(2e-5, true) == "2×10⁻⁵");
  CHECK(text(5e-5, true) == "5×10⁻⁵");
  CHECK(text(1e-4, true) == "0.0001");
  CHECK(text(110'000, true) == "110000");
  CHECK(text(7e-5, false) == "7×10⁻⁵");
  CHECK(text(1e-4, false) == "0.0001");
  CHECK(text(1.5e-4, false) == "0.00015");
  CHECK(text(2.5e-7, false) == "2.5×10⁻⁷");
  CHECK(text(600'000, false) == "600000");
  CHECK(text(20000, false) == "20000");
  CHECK(text(200'000, true) == "2×10⁵");
  CHECK(text(100'000, true) == "100000");
  CHECK(text(1e6, false) == "10⁶");
}

}  // namespace
}  // namespace tapestry::plot
