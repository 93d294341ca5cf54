#include "tapestry/plot/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tapestry::plot {
namespace {

// Independent of the locale, unlike printf.
std::string fixed(double value, int digits) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed,
                                 std::clamp(digits, 0, 17));
  return {buffer, end.ptr};
}

bool has_digit_above_zero(const std::string& text) {
  return text.find_first_of("123456789") != std::string::npos;
}

// "1.2×10⁷"; the mantissa is left out where it is exactly 1 and `short_form` is set.
std::string power_text(double magnitude, int digits, bool short_form) {
  int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  double mantissa = magnitude / std::pow(10.0, exponent);
  if (fixed(mantissa, digits).starts_with("10")) {  // 9.97 rounded up
    mantissa /= 10;
    ++exponent;
  }
  const std::string power = "10" + superscript(exponent);
  if (short_form && std::abs(mantissa - 1) < 1e-9) return power;
  return fixed(mantissa, digits) + "×" + power;
}

// Decimals after the point that are needed to write `value` exactly to 10 significant digits.
int decimals_needed(double value) {
  for (int digits = 0; digits < 12; ++digits) {
    const double scaled = value * std::pow(10.0, digits);
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * std::max(1.0, std::abs(scaled) * 1e-4)) {
      return digits;
    }
  }
  return 12;
}

}  // namespace

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = value < 0 ? "−" : "";
  const double magnitude = std::abs(value);
  if (std::isinf(value)) return sign + "∞";
  if (magnitude >= 1e6) return sign + power_text(magnitude, std::min(digits, 2), false);
  const std::string text = fixed(magnitude, digits);
  if (has_digit_above_zero(text)) return sign + text;
  if (magnitude > 0 && magnitude < 1e-5 && digits >= 3)
    return sign + power_text(magnitude, 1, false);
  return text;
}

std::vector<double> linear_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(low < high) || !std::isfinite(high - low)) return ticks;
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double ratio = rough / power;
  const double factor = ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10;
  const double step = factor * power;
  if (!(step > 0)) return ticks;
  const double slack = 1e-9 * (high - low);
  const double first = std::ceil((low - slack) / step), last = std::floor((high + slack) / step);
  // Integer steps keep 0 exactly 0; the guard is for ranges narrower than a rounding.
  for (double k = first; k <= last && ticks.size() < 1000; ++k) ticks.push_back(k * step + 0.0);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(low > 0 && low < high) || !std::isfinite(high)) return ticks;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const auto inside = [&](double v) { return v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9); };
  int powers = 0;
  for (int k = first; k <= last; ++k) powers += inside(std::pow(10.0, k)) ? 1 : 0;
  const int stride = std::max(1, (powers + count - 1) / std::max(1, count));
  for (int k = first; k <= last; ++k) {
    const double power = std::pow(10.0, k);
    for (const double factor : {1.0, 2.0, 5.0}) {
      const bool wanted = factor == 1 ? k % stride == 0 : powers < 3;
      if (wanted && inside(factor * power)) ticks.push_back(factor * power);
    }
  }
  return ticks;
}

std::vector<std::string> tick_texts(const std::vector<double>& ticks, bool log) {
  double largest = 0, smallest = 1e300;
  for (const double tick : ticks) {
    largest = std::max(largest, std::abs(tick));
    if (tick != 0) smallest = std::min(smallest, std::abs(tick));
  }
  const bool powers =
      log ? smallest < 0.9e-4 || largest > 1.1e5 : smallest < 1e-4 || largest >= 1e6;
  int digits = 0;
  for (const double tick : ticks) digits = std::max(digits, decimals_needed(tick));
  std::vector<std::string> texts;
  for (const double tick : ticks) {
    if (tick == 0) {
      texts.push_back("0");
    } else if (powers) {
      const double power = std::pow(10.0, std::floor(std::log10(std::abs(tick))));
      texts.push_back((tick < 0 ? "−" : "") +
                      power_text(std::abs(tick), decimals_needed(std::abs(tick) / power), true));
    } else {
      texts.push_back(number_text(tick, log ? decimals_needed(tick) : digits));
    }
  }
  return texts;
}

std::string superscript(int exponent) {
  static const char* const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char digit : std::to_string(exponent))
    text += digit == '-' ? "⁻" : raised[digit - '0'];
  return text;
}

}  // namespace tapestry::plot
