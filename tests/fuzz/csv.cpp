// Tables of numbers as text.
#include "tapestry/io/csv.hpp"

#include "fuzz.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File input(fuzz::text_of(data, size));
  CsvTable table;
  if (!fuzz::done([&] { table = read_csv(input.path()); })) return 0;
  fuzz::require(!table.columns.empty(), "there are columns");
  for (const CsvRow& row : table.rows) {
    fuzz::require(row.size() == table.columns.size(), "each row has a cell for each column");
  }
  for (const std::string& name : table.columns) {
    fuzz::require(table.column(name).size() == table.rows.size(), "a column has all rows");
  }
  return 0;
}
