// CSV files, for spreadsheets and pandas: a log that a program appends to while it runs, and whole
// tables.
//
//   CsvLog log("out/loss.csv", {"step", "loss", "held out"}, {.replace = true});
//   log.row({1, loss, std::nullopt});  // step,loss,held out
//                                      // 1,2.302585092994046,
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

// A number, or std::nullopt for an empty cell.
using CsvRow = std::vector<std::optional<double>>;

struct CsvLogOptions {
  bool replace = false;  // overwrite an older file; otherwise that throws Error
  // To continue an older file, if there is one: keeps the rows whose first number is at most this.
  // The first row above it and all after are dropped: a run wrote them after its last checkpoint.
  std::optional<double> resume_after = {};
};

// Writes RFC 4180, with \n between rows. Each row is flushed at once, so that nothing is lost when
// the program is stopped. Numbers are in shortest round-trip form: whole ones below 2^53 in digits
// alone, others as "0.1" or "1e-07", "nan", "inf", "-inf".
class CsvLog {
 public:
  // Writes the header. Missing folders are made. Throws Error if the file exists and no
  // option says what to do; if the file to continue has other columns, or is not a table of
  // numbers; for no columns; for a name that is empty, repeated or has control characters;
  // for both options at once; and for a failed system call.
  CsvLog(const std::filesystem::path& path, const std::vector<std::string>& columns,
         const CsvLogOptions& options = {});

  // One cell for each column. Throws Error for another count, and for a failed write, such as on a
  // full disk.
  void row(const CsvRow& cells);

 private:
  std::filesystem::path path_;
  std::size_t columns_;
  std::ofstream file_;
};

struct CsvTable {
  std::vector<std::string> columns;  // their names
  std::vector<CsvRow> rows;          // a cell for each column

  // The column of that name, NaN for empty cells. Throws Error, with all names, if there is none.
  [[nodiscard]] std::vector<double> column(std::string_view name) const;
};

// Writes a whole table, as CsvLog does, all or nothing; an older file is replaced. Missing folders
// are made. Throws Error for names that CsvLog refuses, for a row of another count of cells, and
// if the file cannot be written.
void write_csv(const std::filesystem::path& path, const CsvTable& table);

// Reads a table of this or another program: a header, and numbers below it. Cells may be quoted;
// \r\n, a byte order mark, empty lines and blanks around numbers are ignored. Throws Error with the
// file, the line and the column for anything else.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& path);

}  // namespace tapestry
