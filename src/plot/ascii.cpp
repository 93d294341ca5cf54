#include "tapestry/plot/ascii.hpp"

#include <algorithm>
#include <functional>

#include "plot/utf8.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

using Labels = std::vector<std::string>;

constexpr int longest_label = 10;  // terminal columns
constexpr std::size_t most_rows = 32;
constexpr int between_columns = 2;

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string right_aligned(const std::string& text, int width) {
  return spaces(width - display_width(text)) + text;
}

std::string centred(const std::string& text, int width) {
  const int left = (width - display_width(text) + 1) / 2;
  return spaces(left) + text + spaces(width - display_width(text) - left);
}

Labels shown(const Labels& labels) {
  Labels result;
  for (const std::string& label : labels) {
    result.push_back(cut_to_width(visible(label), longest_label));
  }
  return result;
}

int widest(const Labels& texts) {
  int width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

void check(const std::string& operation, std::size_t values, const Labels& rows,
           const Labels& columns) {
  const std::string shape = std::to_string(rows.size()) + " row labels x " +
                            std::to_string(columns.size()) + " column labels";
  if (rows.empty() || columns.empty()) {
    throw Error(operation + ": " + shape + " leave nothing to show; give at least one of each");
  }
  if (values != rows.size() * columns.size()) {
    throw Error(operation + ": " + shape + " need " + std::to_string(rows.size() * columns.size()) +
                " values, but " + std::to_string(values) + " were given");
  }
}

std::string left_out(std::size_t rows, std::size_t all_rows, std::size_t columns,
                     std::size_t all_columns) {
  if (rows == all_rows && columns == all_columns) return {};
  return "(shown: " + std::to_string(rows) + " of " + std::to_string(all_rows) + " rows, " +
         std::to_string(columns) + " of " + std::to_string(all_columns) + " columns)\n";
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

using Place = std::function<std::string(const std::string& text, int width)>;

// `cell(i, j)` is the text of one cell; `place` aligns cells and column labels alike.
std::string table(const Labels& row_labels, const Labels& column_labels, int width,
                  const std::function<std::string(std::size_t, std::size_t)>& cell,
                  const Place& place) {
  const Labels rows = shown(row_labels), columns = shown(column_labels);
  const std::size_t row_count = std::min(rows.size(), most_rows);
  const int label_width = widest(rows);
  int cell_width = widest(columns);
  for (std::size_t i = 0; i < row_count; ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      cell_width = std::max(cell_width, display_width(cell(i, j)));
    }
  }
  cell_width += between_columns;
  const bool all = label_width + cell_width * static_cast<int>(columns.size()) <= width;
  const int room = std::max(1, (width - label_width - (all ? 0 : 3)) / cell_width);
  const std::size_t count = std::min(columns.size(), static_cast<std::size_t>(room));
  const std::string more = all ? "" : "  …";
  std::string text = spaces(label_width);
  for (std::size_t j = 0; j < count; ++j) text += place(columns[j], cell_width);
  text = without_trailing_blanks(text + more);
  for (std::size_t i = 0; i < row_count; ++i) {
    std::string line = right_aligned(rows[i], label_width);
    for (std::size_t j = 0; j < count; ++j) line += place(cell(i, j), cell_width);
    text += without_trailing_blanks(line + more);
  }
  return text + left_out(row_count, rows.size(), count, columns.size());
}

}  // namespace

std::string matrix_with_words(std::span<const double> values, const Labels& row_labels,
                              const Labels& column_labels, int digits, int width) {
  check("matrix_with_words", values.size(), row_labels, column_labels);
  const auto cell = [&](std::size_t i, std::size_t j) {
    return number_text(values[i * column_labels.size() + j], digits);
  };
  return table(row_labels, column_labels, width, cell, right_aligned);
}

std::string check_table(const std::vector<bool>& allowed, const Labels& row_labels,
                        const Labels& column_labels, int width) {
  check("check_table", allowed.size(), row_labels, column_labels);
  const auto cell = [&](std::size_t i, std::size_t j) {
    return std::string(allowed[i * column_labels.size() + j] ? "✓" : "✗");
  };
  return table(row_labels, column_labels, width, cell, centred);
}

}  // namespace tapestry::plot
