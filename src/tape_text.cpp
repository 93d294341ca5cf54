// A tape as a table, and the search for the first bad number.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tapestry/error.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

std::string bytes_text(std::size_t bytes) {
  char text[32];
  if (bytes < 10'000) {
    std::snprintf(text, sizeof text, "%zu B", bytes);
  } else if (bytes < 10'000'000) {
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
  }
  return text;
}

std::string inputs_text(const Tape::Entry& entry) {
  std::string text;
  for (const std::size_t input : entry.inputs)
    text += (text.empty() ? "" : " ") + std::to_string(input);
  return text;
}

bool all_finite(const Tensor& tensor) {
  const std::vector<real> values = tensor.values();
  return std::all_of(values.begin(), values.end(), [](real x) { return std::isfinite(x); });
}

bool has_nan(const Tensor& tensor) {
  const std::vector<real> values = tensor.values();
  return std::any_of(values.begin(), values.end(), [](real x) { return std::isnan(x); });
}

}  // namespace

std::string Tape::table() const {
  std::string text;
  char line[160];
  std::snprintf(line, sizeof line, "%5s  %-16s %-9s %-18s %10s  %s\n", "#", "operation", "inputs",
                "shape", "saved", "label");
  text += line;
  std::size_t total = 0, number = 0;
  for (const Entry& entry : entries()) {
    std::snprintf(line, sizeof line, "%5zu  %-16s %-9s %-18s %10s  %s", number++,
                  entry.operation.c_str(), inputs_text(entry).c_str(),
                  to_string(entry.shape).c_str(), bytes_text(entry.saved_bytes).c_str(),
                  entry.label.c_str());
    text += line;
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    total += entry.saved_bytes;
  }
  return text + "saved for the way back: " + bytes_text(total) + "\n";
}

std::string Tape::first_non_finite() const {
  const std::vector<Entry> all = entries();
  if (!all.empty() && !all[0].value.defined()) {
    throw Error(
        "first_non_finite: this tape kept no values to look at. Make it with Tape(..., "
        "Tape::Keep::values).");
  }
  std::vector<bool> bad(all.size());  // not finite; `where` may place infinities on purpose
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Entry& entry = all[i];
    bad[i] = entry.value.defined() && !all_finite(entry.value);
    if (!bad[i]) continue;
    const bool inherited = std::any_of(entry.inputs.begin(), entry.inputs.end(),
                                       [&](std::size_t input) { return bad[input]; });
    const bool on_purpose = entry.operation == "where" && !has_nan(entry.value);
    if (inherited || on_purpose) continue;
    std::string text = "record " + std::to_string(i) + ", " + entry.operation;
    if (!entry.label.empty()) text += " '" + entry.label + "'";
    return text + ", is the first with a number that is not finite: " + summary(entry.value);
  }
  return "";
}

}  // namespace tapestry
