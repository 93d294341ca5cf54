// Tables of numbers as text: a log that grows while a program runs, for spreadsheets and pandas.
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
  bool replace = false;  // overwrite an older file; without this it is refused
  // To go on with an older file, if there is one: its rows are kept up to this first number. The
  // first row above it and all after are dropped: a run wrote them after its last checkpoint.
  std::optional<double> resume_after = {};
};

// Writes RFC 4180, with \n between rows. Each row goes to the system at once, so that nothing is
// lost when the program is stopped. Numbers have as few digits as give the same number when read:
// whole ones below 2^53 in digits alone, others as "0.1" or "1e-07", "nan", "inf", "-inf".
class CsvLog {
 public:
  // Writes the header. Missing folders are made. Throws Error if the file exists and no
  // option says what to do; if the file to go on with has other columns, or is no table of
  // numbers; for no columns; for a name that is empty, stands twice or has control characters;
  // for both options at once; and for what the system refuses.
  CsvLog(const std::filesystem::path& path, const std::vector<std::string>& columns,
         const CsvLogOptions& options = {});

  // One cell for each column. Throws Error for another count, and for what the system refuses, such
  // as a full disk.
  void row(const CsvRow& cells);

 private:
  std::filesystem::path path_;
  std::size_t columns_;
  std::ofstream file_;
};

struct CsvTable {
  std::vector<std::string> columns;  // their names
  std::vector<CsvRow> rows;          // a cell for each column

  // The column with that name, NaN where a cell is empty. Throws Error, with all names, if there is
  // none.
  std::vector<double> column(std::string_view name) const;
};

// Reads a table of this or another program: a header, and numbers below it. Cells may stand in
// quotes; \r\n, a byte order mark, empty lines and blanks around numbers are passed over. Throws
// Error with the file, the line and the column for anything else.
CsvTable read_csv(const std::filesystem::path& path);

}  // namespace tapestry
