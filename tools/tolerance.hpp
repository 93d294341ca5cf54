// How far printed numbers may lie from those that a lesson shows. Used by check_lessons.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>

#include "printed.hpp"

namespace printed {

constexpr double widest = 0.1;  // part of the range, or of the number, without a reason

// For numbers of one kind. An amount of 0: the printed number, rounded to the digits shown, is the
// shown one.
struct Allowed {
  double amount = 0;
  bool relative = false;  // part of the printed number
};

struct Tolerance {
  Allowed decimals, wholes;  // numbers with a decimal point, and the others
  std::string text, reason, mistake;

  const Allowed& of(const Number& number) const { return number.has_point ? decimals : wholes; }
};

// Reads "tolerance 0.02", "tolerance 5 %" or "tolerance 0.02, whole 5 %", each perhaps with
// "reason: ..." behind it.
inline Tolerance read_tolerance(const std::string& text) {
  static const std::regex form(
      R"(\s*(?:(tolerance ([\d.]+)( %)?(?:, whole ([\d.]+) %)?)(?:\s+reason:\s*(\S.*?))?)?\s*)");
  Tolerance tolerance;
  std::smatch part;
  if (!std::regex_match(text, part, form)) {
    tolerance.mistake = "cannot read \"" + text +
                        "\": write \"tolerance 0.02\", \"tolerance 5 %\"" +
                        " or \"tolerance 0.02, whole 5 %\", and perhaps \"reason: ...\"";
  } else if (part[1].matched) {
    tolerance.text = part[1];
    tolerance.reason = part[5];
    const bool relative = part[3].matched;
    const double amount = std::stod(part[2]);
    tolerance.decimals = {relative ? amount / 100 : amount, relative};
    if (relative) tolerance.wholes = tolerance.decimals;
    if (part[4].matched) tolerance.wholes = {std::stod(part[4]) / 100, true};
  }
  return tolerance;
}

inline bool agree(const Number& shown, const Number& printed, const Tolerance& tolerance = {}) {
  const double difference = std::abs(shown.value - printed.value);
  if (difference <= 0.5 * shown.unit * (1 + 1e-9)) return true;
  const Allowed& allowed = tolerance.of(shown);
  const double limit = allowed.amount * (allowed.relative ? std::abs(printed.value) : 1);
  return difference <= limit * (1 + 1e-9);
}

inline bool agree(const Line& shown, const Line& printed, const Tolerance& tolerance) {
  return shown.words == printed.words &&
         std::equal(shown.numbers.begin(), shown.numbers.end(), printed.numbers.begin(),
                    printed.numbers.end(),
                    [&](const Number& a, const Number& b) { return agree(a, b, tolerance); });
}

// What is wrong with the tolerance of these numbers, or nothing.
inline std::string mistake(const Tolerance& tolerance, const std::vector<Number>& numbers) {
  if (!tolerance.mistake.empty()) return tolerance.mistake;
  if (tolerance.text.empty() || !tolerance.reason.empty()) return "";
  std::string of = "the number";
  double whole = 1;
  if (!tolerance.decimals.relative) {
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    for (const Number& number : numbers) {
      if (!number.has_point) continue;
      least = std::min(least, number.value);
      greatest = std::max(greatest, number.value);
    }
    of = "the range of its decimal numbers";
    if (greatest < least) return "\"" + tolerance.text + "\" applies to no number";
    whole = greatest > least ? greatest - least : std::abs(greatest);  // one number: its size
  }
  const bool wide = tolerance.decimals.amount > widest * whole * (1 + 1e-9);
  if (!wide && tolerance.wholes.amount <= widest) return "";
  return "\"" + tolerance.text + "\" is more than 10 % of " + (wide ? of : "the number") +
         ": lower it, or write \"reason: ...\" behind it";
}

}  // namespace printed
