// CSV files: writing row by row or whole, reading whole.
#include "tapestry/io/csv.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

// ---- writing

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";  // a NaN may have a sign
  const bool whole = std::abs(number) < 0x1p53 && std::trunc(number) == number;
  return whole ? formatted("%.0f", number) : exact_text(number);
}

std::string name_text(const std::string& name) {
  if (name.find_first_of("\",") == std::string::npos) return name;
  std::string text;
  for (const char sign : name) text.append(sign == '"' ? 2 : 1, sign);
  return '"' + text + '"';
}

std::string header_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name_text(name) + ",";
  text.back() = '\n';
  return text;
}

std::string row_text(const CsvRow& cells) {
  std::string text;
  for (const std::optional<double>& cell : cells) text += (cell ? number_text(*cell) : "") + ",";
  if (text == ",") text = "\"\",";  // an empty line is no row
  text.back() = '\n';
  return text;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

void check_names(const char* operation, const std::vector<std::string>& names) {
  const std::string begin = std::string(operation) + ": ";
  if (names.empty()) throw Error(begin + "there are no columns.");
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const auto refuse = [&](const char* problem) {
      throw Error(begin + "the column " + in_quotes(name) + problem);
    };
    if (name.empty()) refuse(" needs a name.");
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; })) {
      refuse(" has a control character in its name.");
    }
    if (!seen.insert(name).second) refuse(" stands twice.");
  }
}

void check_cells(const char* operation, const CsvRow& cells, std::size_t columns,
                 const fs::path& path) {
  if (cells.size() == columns) return;
  throw Error(std::string(operation) + ": a row of " + std::to_string(cells.size()) +
              " cells for the " + std::to_string(columns) + " columns of " + path.string() + ".");
}

// ---- reading

// Reads the cells of one line from its front.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  bool is_done() const { return done_; }

  std::string next() {
    std::string cell = rest_.starts_with('"') ? quoted() : bare();
    done_ = rest_.empty();
    if (!done_ && rest_.front() != ',') throw Error("something follows the quotes.");
    if (!done_) rest_.remove_prefix(1);
    return cell;
  }

 private:
  std::string bare() { return take(std::min(rest_.find(','), rest_.size())); }

  std::string quoted() {
    std::string cell;
    do {
      rest_.remove_prefix(1);
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) throw Error("a quote is not closed.");
      cell += take(end);
      rest_.remove_prefix(1);
      if (rest_.starts_with('"')) cell += '"';  // two quotes in the cell mean one
    } while (rest_.starts_with('"'));
    return cell;
  }

  std::string take(std::size_t bytes) {
    const std::string text(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return text;
  }

  std::string_view rest_;
  bool done_ = false;
};

std::optional<double> number_of(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  if (text.empty()) return std::nullopt;
  double number{};
  if (read_number(text, number)) return number;
  throw Error(in_quotes(text) + " is not a number.");
}

void add_line(CsvTable& table, std::string_view text) {
  Line line(text);
  if (table.columns.empty()) {
    while (!line.is_done()) table.columns.push_back(line.next());
    return;
  }
  CsvRow row;
  for (const std::string& column : table.columns) {
    if (line.is_done()) {
      throw Error("it has " + std::to_string(row.size()) + " cells, the header " +
                  std::to_string(table.columns.size()) + ".");
    }
    try {
      row.push_back(number_of(line.next()));
    } catch (const Error& error) {
      throw Error("column " + in_quotes(column) + ": " + error.what());
    }
  }
  if (!line.is_done()) {
    throw Error("it has more cells than the header, " + std::to_string(row.size()) + ".");
  }
  table.rows.push_back(std::move(row));
}

CsvTable table_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  CsvTable table;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    try {
      if (!line.empty()) add_line(table, line);
    } catch (const Error& error) {
      throw Error("line " + std::to_string(number) + ": " + error.what());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (table.columns.empty()) throw Error("it is empty: there is no header.");
  return table;
}

std::string content(std::ifstream& file, std::uint64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  read_bytes(file, text.data(), bytes);
  return text;
}

// The rows to keep of an older log. A last row without a line end is incomplete, and dropped too.
std::string kept_rows(std::string text, const std::vector<std::string>& columns, double last) {
  text.erase(text.rfind('\n') + 1);
  const CsvTable table = table_of(text);
  if (table.columns != columns) {
    throw Error("its columns are " + quoted_list(table.columns) + ", not " + quoted_list(columns) +
                ". Choose another file, or .replace = true.");
  }
  std::string kept;
  for (const CsvRow& row : table.rows) {
    if (row.front() && *row.front() > last) break;
    kept += row_text(row);
  }
  return kept;
}

}  // namespace

CsvLog::CsvLog(const fs::path& path, const std::vector<std::string>& columns,
               const CsvLogOptions& options)
    : path_(path), columns_(columns.size()) {
  check_names("CsvLog", columns);
  if (options.replace && options.resume_after) {
    throw Error("CsvLog: replace and resume_after contradict each other.");
  }
  std::string text = header_text(columns);
  std::error_code unknown;
  if (fs::is_regular_file(path, unknown) && !options.replace) {
    if (!options.resume_after) {
      throw Error("CsvLog: " + path.string() +
                  " exists already. Move it away, or say .replace = true or .resume_after.");
    }
    read_file("CsvLog", path, [&](std::ifstream& file, std::uint64_t bytes) {
      text += kept_rows(content(file, bytes), columns, *options.resume_after);
    });
  }
  write_file_atomically("CsvLog", path, std::as_bytes(std::span(text)));
  file_.open(path, std::ios::binary | std::ios::app);
  if (!file_) throw Error("CsvLog: cannot write " + path.string() + ": " + std::strerror(errno));
}

void CsvLog::row(const CsvRow& cells) {
  check_cells("CsvLog", cells, columns_, path_);
  file_ << row_text(cells) << std::flush;
  if (!file_) throw Error("CsvLog: cannot write " + path_.string() + ": " + std::strerror(errno));
}

std::vector<double> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) {
    throw Error("CsvTable: there is no column " + in_quotes(name) + "; there are " +
                quoted_list(columns) + ".");
  }
  const auto place = static_cast<std::size_t>(found - columns.begin());
  std::vector<double> numbers;
  for (const CsvRow& row : rows) {
    numbers.push_back(row.at(place).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return numbers;
}

void write_csv(const fs::path& path, const CsvTable& table) {
  check_names("write_csv", table.columns);
  std::string text = header_text(table.columns);
  for (const CsvRow& row : table.rows) {
    check_cells("write_csv", row, table.columns.size(), path);
    text += row_text(row);
  }
  write_file_atomically("write_csv", path, std::as_bytes(std::span(text)));
}

CsvTable read_csv(const fs::path& path) {
  CsvTable table;
  read_file("read_csv", path, [&](std::ifstream& file, std::uint64_t bytes) {
    table = table_of(content(file, bytes));
  });
  return table;
}

}  // namespace tapestry
