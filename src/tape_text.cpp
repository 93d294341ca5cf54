// A tape as entries, as a table and as a graph, and the search for the first bad number.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "tape_state.hpp"
#include "tapestry/error.hpp"
#include "tapestry/tape.hpp"
#include "unicode.hpp"

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

// A label as Graphviz shows it unchanged: between quotes it reads \" and \\, and &names; of HTML.
std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    const char first = text.front();
    if (first == '"' || first == '\\') {
      result += {'\\', first};
    } else if (first == '&') {
      result += "&amp;";
    } else if (bytes == 0 || (first >= 0 && first < ' ') || first == 0x7F) {
      result += '?';
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

}  // namespace

std::size_t Tape::size() const { return state_->records.size(); }

std::vector<Tape::Entry> Tape::entries() const {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < size(); ++i) {
    const Record& record = state_->records[i];
    Entry entry{record.operation, "", record.shape, {}, record.saved_bytes, {}, {}};
    for (std::size_t k = 0; k < record.input_count; ++k) {
      const std::uint32_t input = state_->inputs[record.first_input + k];
      if (input != State::nothing) entry.inputs.push_back(input);
    }
    if (const auto label = state_->labels.find(i); label != state_->labels.end()) {
      entry.label = label->second;
    }
    if (i < state_->values.size()) entry.value = state_->values[i];
    if (i < state_->kept_gradients.size()) entry.gradient = state_->kept_gradients[i];
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string Tape::table() const {
  const std::vector<Entry> all = entries();
  int width = 16;
  for (const Entry& entry : all) width = std::max(width, static_cast<int>(entry.operation.size()));
  std::string text;
  char line[160];
  std::snprintf(line, sizeof line, "%5s  %-*s %-9s %-18s %10s  %s\n", "#", width, "operation",
                "inputs", "shape", "saved", "label");
  text += line;
  std::size_t total = 0, number = 0;
  for (const Entry& entry : all) {
    std::snprintf(line, sizeof line, "%5zu  %-*s %-9s %-18s %10s  %s", number++, width,
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

std::string Tape::dot() const {
  std::string text = "digraph tape {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=";
  text += "\"#f3f6fa\"];\n";
  std::size_t number = 0;
  for (const Entry& entry : entries()) {
    const std::string name = std::to_string(number++);
    std::string label = escaped(entry.label);
    if (!label.empty()) label += "\\n";
    text += "  " + name + " [label=\"" + label + entry.operation + "\\n" + to_string(entry.shape) +
            "\"" + (entry.operation == "watched" ? ", fillcolor=\"#fff4e6\"" : "") + "];\n";
    for (const std::size_t input : entry.inputs) {
      text += "  " + std::to_string(input) + " -> " + name + ";\n";
    }
  }
  return text + "}\n";
}

// ---------------------------------------------------------------- the first bad number

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// What a record's value holds that is not finite, and where its infinities come from.
struct Bad {
  bool nan = false, high = false, low = false;  // a NaN, +inf, -inf
  std::size_t mask = none;  // the record that placed, on purpose, what reached this one

  bool any() const { return nan || high || low; }
};

Bad look_at(const Tensor& tensor) {
  Bad bad;
  for (const real x : tensor.values()) {
    bad.nan |= std::isnan(x);
    bad.high |= std::isinf(x) && x > 0;
    bad.low |= std::isinf(x) && x < 0;
  }
  return bad;
}

// Whether a record that holds such numbers, made from finite ones, is a mask at work: a `where`, or
// the sum with a tensor that is not on the tape.
bool is_mask(const Tape::Entry& entry, const Bad& bad) {
  const bool added = entry.operation == "add" && entry.inputs.size() == 1 && !bad.high;
  return !bad.nan && (entry.operation == "where" || added);
}

std::string name_of(const std::vector<Tape::Entry>& all, std::size_t i) {
  const std::string label = all[i].label.empty() ? "" : " '" + all[i].label + "'";
  return "record " + std::to_string(i) + ", " + all[i].operation + label;
}

std::string tell(const std::vector<Tape::Entry>& all, std::size_t i, const Bad& bad, bool made) {
  std::string text =
      name_of(all, i) + ", is the first with a number that is not finite: " + summary(all[i].value);
  if (bad.mask != none) {
    text += "; it was made from the infinity that " + name_of(all, bad.mask) +
            ", puts where a mask hides something";
    text += bad.nan ? ". A row with nothing left to see? softmax() gives it zeros, not NaN"
                    : ". Was the answer itself hidden?";
  }
  const bool exact = all[i].operation == "add" || all[i].operation == "multiply";
  if (made && bad.nan && exact && all[i].inputs.size() == 1) {  // finite ones never make a NaN
    text += "; it came with the other operand, which is not on the tape (0 * inf, in a mask?)";
  }
  return text;
}

std::string first_bad_value(const std::vector<Tape::Entry>& all) {
  std::vector<Bad> bad(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    bad[i] = look_at(all[i].value);
    if (!bad[i].any()) continue;
    bool from_nan = false, from_bad = false;
    for (const std::size_t input : all[i].inputs) {
      from_nan |= bad[input].nan;
      from_bad |= bad[input].any();
      if (bad[input].mask != none) bad[i].mask = bad[input].mask;
    }
    if (from_bad ? bad[i].nan && !from_nan : !is_mask(all[i], bad[i])) {
      return tell(all, i, bad[i], !from_bad);
    }
    if (!from_bad) bad[i].mask = i;
    const bool is_loss = from_bad && i + 1 == all.size() && all[i].value.count() == 1;
    if (is_loss) return tell(all, i, bad[i], false);
  }
  return "";
}

std::string first_bad_gradient(const std::vector<Tape::Entry>& all) {
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!all[i].gradient.defined() || !look_at(all[i].gradient).any()) continue;
    std::string givers;
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const std::vector<std::size_t>& inputs = all[j].inputs;
      const bool gives = std::find(inputs.begin(), inputs.end(), i) != inputs.end();
      if (gives && all[j].gradient.defined()) {
        givers += (givers.empty() ? ", by way of " : " or ") + name_of(all, j);
      }
    }
    return "the gradient of " + name_of(all, i) +
           ", is the first with a number that is not finite: " + summary(all[i].gradient) + givers;
  }
  return "";
}

}  // namespace

std::string Tape::first_non_finite() const {
  const std::vector<Entry> all = entries();
  if (!all.empty() && !all[0].value.defined()) {
    throw Error(
        "first_non_finite: this tape kept no values to look at. Make it with Tape(..., "
        "Tape::Keep::values).");
  }
  const std::string value = first_bad_value(all);
  return value.empty() ? first_bad_gradient(all) : value;
}

}  // namespace tapestry
