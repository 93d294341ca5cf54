// Numbers on an axis: round ticks and short, exact labels.
#pragma once

#include <string>
#include <vector>

namespace tapestry::plot {

// `value` with `digits` (0 to 17) decimals, a real minus sign, "NaN", "∞" and "−∞"; never "−0.00".
// From a million up, and below 10⁻⁵ where the decimals would show only zeros, "1.2×10⁷".
[[nodiscard]] std::string number_text(double value, int digits);

// Multiples of 1, 2 or 5 × 10ᵏ within [low, high], about `count` of them. Empty unless low < high,
// both finite.
[[nodiscard]] std::vector<double> linear_ticks(double low, double high, int count = 5);

// Powers of ten within [low, high] (every second, third ... when there are more than `count`);
// with their multiples by 2 and 5 when the range holds fewer than three. Needs 0 < low < high.
[[nodiscard]] std::vector<double> log_ticks(double low, double high, int count = 8);

// Labels with just the decimals that distinguish the ticks; on a log axis powers of ten beyond
// 0.0001 … 100000 as 10⁻⁵.
[[nodiscard]] std::vector<std::string> tick_texts(const std::vector<double>& ticks,
                                                  bool log = false);

// An exponent in raised digits: superscript(-3) is "⁻³".
[[nodiscard]] std::string superscript(int exponent);

}  // namespace tapestry::plot
