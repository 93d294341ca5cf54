#include "step_text.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

constexpr int columns = 80, name_columns = 15, number_columns = 9, most_numbers = 7;
constexpr Index most_rows = 6;
constexpr std::size_t most_lines = 15;  // of the program

// A file may hold any text: none of it may command the terminal.
std::string harmless(const std::string& text) {
  std::string result;
  for (const char32_t point : decode_utf8(text)) {
    result += is_control_code(point) ? "?" : encode_utf8(point);
  }
  return result;
}

std::string name_of(const TapeSteps& steps, std::size_t record) {
  const TapeSteps::Record& one = steps.records[record];
  return one.label.empty() ? "record " + std::to_string(record) : harmless(one.label);
}

// "weights = divide(up, total)"
std::string formula_of(const TapeSteps& steps, std::size_t record) {
  const TapeSteps::Record& one = steps.records[record];
  std::string inputs;
  for (const std::size_t input : one.inputs) {
    inputs += (inputs.empty() ? "" : ", ") + name_of(steps, input);
  }
  if (one.operation == "watched") return name_of(steps, record) + ", watched: it gets a gradient";
  const std::string equals = one.label.empty() ? "" : name_of(steps, record) + " = ";
  return equals + harmless(one.operation) + "(" + inputs + ")";
}

// ---- Numbers

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  const std::string text = formatted("%.4g", value);
  return text == "-0" ? "0" : text;
}

std::string row_text(const std::vector<real>& values, Index begin, Index size) {
  std::string text;
  for (Index i = 0; i < std::min<Index>(size, most_numbers); ++i) {
    text += right(number_text(double{values[static_cast<std::size_t>(begin + i)]}), number_columns);
  }
  return text + (size > most_numbers ? "…" : "");
}

// The rows of the last axis, the first of them beside the name.
std::string tensor_text(const std::string& name, const Tensor& x) {
  const std::string first = left(name, name_columns);
  if (!x.defined()) return first + "  (too long for the file)\n";
  if (x.numel() == 0) return first + "  (no numbers)\n";
  const std::vector<real> values = x.values();
  const Index size = x.ndim() == 0 ? 1 : x.size(-1), rows = x.numel() / size;
  std::string text;
  for (Index row = 0; row < std::min(rows, most_rows); ++row) {
    text += (row == 0 ? first : left("", name_columns)) + row_text(values, row * size, size) + "\n";
  }
  if (rows > most_rows) {
    text += left("", name_columns) + formatted("  … and %td rows more\n", rows - most_rows);
  }
  return text;
}

// ---- The parts of a page

std::string program_text(const TapeSteps& steps, std::optional<std::size_t> line) {
  const std::size_t count = steps.lines.size();
  if (count == 0) return "";
  const std::size_t shown = std::min(count, most_lines), middle = line.value_or(0);
  const std::size_t begin = std::min(middle - std::min(middle, shown / 2), count - shown);
  std::string text;
  if (begin > 0) text += "    …\n";
  for (std::size_t i = begin; i < begin + shown; ++i) {
    text += (line == i ? "  > " : "    ") +
            cut_to_width(harmless(steps.lines[i].text), columns - 4) + "\n";
  }
  if (begin + shown < count) text += "    …\n";
  return text + "\n";
}

std::string head_text(const TapeSteps& steps, std::size_t step, std::size_t record) {
  const bool forward = step < steps.records.size();
  const std::string title = steps.name.empty() ? "" : harmless(steps.name) + ": ";
  const std::string place = formatted("Step %zu of %zu, ", step + 1, step_count(steps)) +
                            (forward ? "forward" : "backward");
  std::string text = place + "\n";
  if (step == 0 && !steps.formula.empty()) {
    text += folded(title + harmless(steps.formula), 2) + "\n";
  }
  return text + "\n" + program_text(steps, steps.records[record].line);
}

std::string record_text(const TapeSteps& steps, std::size_t record) {
  return folded(formatted("%zu: ", record) + formula_of(steps, record), 3) + "\n";
}

std::string forward_text(const TapeSteps& steps, std::size_t record) {
  const TapeSteps::Record& one = steps.records[record];
  std::string text = record_text(steps, record);
  text += "   shape " + to_string(one.shape) +
          formatted(", %zu bytes saved for the backward pass\n", one.saved_bytes);
  text += tensor_text("value", one.value);
  std::vector<std::size_t> told;
  for (const std::size_t input : one.inputs) {
    if (std::find(told.begin(), told.end(), input) != told.end()) continue;
    text += tensor_text("  of " + name_of(steps, input), steps.records[input].value);
    told.push_back(input);
  }
  return text;
}

std::string backward_text(const TapeSteps& steps, const TapeSteps::BackwardStep& step) {
  std::string text = record_text(steps, step.record);
  text += tensor_text("gradient", steps.records[step.record].gradient);
  if (step.gives.empty()) return text + "No gradient passes it.\n";
  for (const TapeSteps::Given& given : step.gives) {
    text += "to the gradient of " + cut_to_width(name_of(steps, given.to), columns - 30) + "\n";
    text += tensor_text("  it adds", given.contribution) + tensor_text("  so far", given.sum);
  }
  return text;
}

// ---- The first number that is not finite

bool has_bad(const Tensor& x) {
  const std::vector<real> values = x.defined() ? x.values() : std::vector<real>();
  return std::any_of(values.begin(), values.end(), [](real one) { return !std::isfinite(one); });
}

// Of a gradient: the step that made it so; in a file without its numbers the first that added.
std::size_t step_of(const TapeSteps& steps, const TapeSteps::NonFinite& found) {
  if (!found.in_gradient) return found.record;
  std::optional<std::size_t> adds, is;
  for (std::size_t i = 0; i < steps.backward.size(); ++i) {
    const std::size_t step = steps.records.size() + i;
    if (steps.backward[i].record == found.record) is = step;
    for (const TapeSteps::Given& given : steps.backward[i].gives) {
      if (given.to != found.record) continue;
      if (has_bad(given.sum)) return step;
      adds = adds.value_or(step);
    }
  }
  return adds.value_or(is.value_or(found.record));
}

std::string causes_text(const TapeSteps& steps, const TapeSteps::NonFinite& found) {
  std::string text =
      "\nThe first number that is not finite:\n" + folded(harmless(found.text), 0) + "\n";
  for (const TapeSteps::Cause& cause : found.causes) {
    std::string place;
    for (const Index at : cause.place) place += (place.empty() ? "" : ", ") + std::to_string(at);
    text += folded("  - " +
                       (cause.in_gradient ? "the gradient of " + name_of(steps, cause.record)
                                          : name_of(steps, cause.record)) +
                       (place.empty() ? "" : " [" + place + "]") + " is " +
                       number_text(cause.value) + ": " + harmless(cause.why),
                   4) +
            "\n";
  }
  return text;
}

// The key of one press, whatever the terminal sends for it; 0 for none. Takes it from the bytes.
char key_of(std::string_view& bytes) {
  const char first = bytes.front();
  if (first != '\x1b' || bytes.size() < 3 || (bytes[1] != '[' && bytes[1] != 'O')) {
    bytes.remove_prefix(1);
    if (first == '\n' || first == '\r' || first == ' ') return 'n';
    return first == '\x03' || first == '\x04' ? 'q' : first;
  }
  std::size_t end = 2;  // of "ESC [ 1 ; 5 C"
  while (end + 1 < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
  const char last = bytes[end];
  bytes.remove_prefix(end + 1);
  return last == 'C' ? 'n' : last == 'D' ? 'p' : '\0';
}

}  // namespace

const char* const step_keys =
    "Enter or → on   ← or p back   b backward pass   f first not finite   q quit";

std::size_t step_count(const TapeSteps& steps) {
  return steps.records.size() + steps.backward.size();
}

std::string step_text(const TapeSteps& steps, std::size_t step) {
  const std::size_t forward = steps.records.size();
  std::string text;
  if (step < forward) {
    text = head_text(steps, step, step) + forward_text(steps, step);
  } else {
    const TapeSteps::BackwardStep& back = steps.backward[step - forward];
    text = head_text(steps, step, back.record) + backward_text(steps, back);
  }
  const bool bad = steps.non_finite && step_of(steps, *steps.non_finite) == step;
  return bad ? text + causes_text(steps, *steps.non_finite) : text;
}

Stepping after_keys(const TapeSteps& steps, Stepping now, std::string_view bytes) {
  while (!bytes.empty() && !now.ends) {
    now.word = "";
    const char key = key_of(bytes);
    if (key == 'n' && now.step + 1 == step_count(steps))
      now.word = "This is the last step.";
    else if (key == 'n')
      ++now.step;
    else if (key == 'p' && now.step == 0)
      now.word = "This is the first step.";
    else if (key == 'p')
      --now.step;
    else if (key == 'b' && steps.backward.empty())
      now.word = "There was no backward pass.";
    else if (key == 'b')
      now.step = steps.records.size();
    else if (key == 'f' && !steps.non_finite)
      now.word = "All numbers are finite.";
    else if (key == 'f')
      now.step = step_of(steps, *steps.non_finite);
    else
      now.ends = key == 'q';
  }
  return now;
}

}  // namespace tapestry::command
