#include "tapestry/io/csv.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "catch.hpp"
#include "memory_limit.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

CsvTable read(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv", std::ios::binary) << text;
  return read_csv(folder / "a.csv");
}

std::string refused(const std::string& text, std::initializer_list<const char*> words) {
  return complaint([&] { read(text); }, words);
}

}  // namespace

TEST_CASE("a CSV log stands in its file row by row, as text that is easy to read", "[phase2][io]") {
  const TemporaryFolder folder;
  const auto path = folder / "runs/loss.csv";  // a folder that is made
  CsvLog log(path, {"step", "loss, \"held out\"", "note"});
  CHECK(content(path) == "step,\"loss, \"\"held out\"\"\",note\n");
  log.row({100000, 0.1, std::nullopt});
  CHECK(content(path) == "step,\"loss, \"\"held out\"\"\",note\n100000,0.1,\n");  // the log is open
  log.row({9007199254740991, -infinity, std::nan("")});
  log.row({-3, 1e-7, -std::nan("")});
  CHECK(content(path) ==
        "step,\"loss, \"\"held out\"\"\",note\n100000,0.1,\n"
        "9007199254740991,-inf,nan\n-3,1e-07,nan\n");
  log.row({5e15, 1e16, 0});
  CHECK(content(path).ends_with("\n5000000000000000,1e+16,0\n"));
}

TEST_CASE("numbers of a CSV log read back the same bits", "[phase2][io]") {
  using limits = std::numeric_limits<double>;
  std::vector<double> numbers = {0,    -0.0,          1.0 / 3,          0x1p53,
                                 1e20, limits::max(), limits::lowest(), limits::min(),
                                 42,   0.1F,          infinity,         limits::denorm_min()};
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(random.normal() * std::exp(30 * random.normal()));
  }
  const TemporaryFolder folder;
  {
    CsvLog log(folder / "a.csv", {"number", "again"});
    for (const double number : numbers) log.row({number, -number});
  }
  const CsvTable table = read_csv(folder / "a.csv");
  REQUIRE(table.rows.size() == numbers.size());
  int wrong = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double read[] = {table.rows[i][0].value(), table.rows[i][1].value()};
    const double wanted[] = {numbers[i], -numbers[i]};
    wrong += std::memcmp(read, wanted, sizeof read) != 0 ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a cell may be empty, also the only one of its row", "[phase2][io]") {
  const TemporaryFolder folder;
  {
    CsvLog log(folder / "a.csv", {"one"});
    for (const std::optional<double>& cell : CsvRow{1, std::nullopt, 3}) log.row({cell});
  }
  CHECK(content(folder / "a.csv") == "one\n1\n\"\"\n3\n");
  const CsvTable table = read_csv(folder / "a.csv");
  CHECK(table.rows == std::vector<CsvRow>{{1}, {std::nullopt}, {3}});
  const std::vector<double> column = table.column("one");
  REQUIRE(column.size() == 3);
  CHECK(column[0] == 1);
  CHECK(std::isnan(column[1]));
  CHECK(column[2] == 3);
}

TEST_CASE("an older CSV log is neither lost nor mixed with another", "[phase2][io]") {
  const TemporaryFolder folder;
  const auto path = folder / "a.csv";
  CsvLog(path, {"step", "loss"}).row({1, 0.5});
  CHECK(complaint([&] { CsvLog(path, {"step", "loss"}); },
                  {"a.csv exists already", "Move it away", ".replace = true"}) == "");
  CHECK(content(path) == "step,loss\n1,0.5\n");
  const auto go_on = [&](const std::vector<std::string>& columns) {
    CsvLog(path, columns, {.resume_after = 7});
  };
  CHECK(complaint([&] { go_on({"step", "rate"}); },
                  {"a.csv: its columns are 'step', 'loss', not 'step', 'rate'"}) == "");
  CHECK(complaint([&] { go_on({"step"}); }, {"'step', 'loss', not 'step'"}) == "");
  CHECK(content(path) == "step,loss\n1,0.5\n");
  CsvLog(path, {"rate"}, {.replace = true});
  CHECK(content(path) == "rate\n");
  CHECK(complaint([&] { CsvLog(path, {"rate"}, {.replace = true, .resume_after = 1}); },
                  {"replace and resume_after contradict"}) == "");
}

TEST_CASE("a resumed CSV log drops what came after the checkpoint, and the torn row",
          "[phase2][io]") {
  const TemporaryFolder folder;
  const auto path = folder / "a.csv";
  std::ofstream(path) << "step,loss\n10,0.5\n,nan\n20,\n30,0.25\n40,0.12";
  CsvLog(path, {"step", "loss"}, {.resume_after = 20}).row({21, 7});
  CHECK(content(path) == "step,loss\n10,0.5\n,nan\n20,\n21,7\n");
  std::ofstream(path) << "step,loss\n10,0.5\n20,0.12";  // without an end: perhaps 0.125
  CsvLog(path, {"step", "loss"}, {.resume_after = 20}).row({21, 7});
  CHECK(content(path) == "step,loss\n10,0.5\n21,7\n");
  std::ofstream(path) << "step,lo";
  CHECK(complaint([&] { CsvLog(path, {"step", "loss"}, {.resume_after = 20}); },
                  {"a.csv: it is empty: there is no header."}) == "");
  CsvLog(folder / "new.csv", {"step"}, {.resume_after = 20}).row({21});
  CHECK(content(folder / "new.csv") == "step\n21\n");
}

TEST_CASE("a CSV log names what it cannot write", "[phase2][io]") {
  const TemporaryFolder folder;
  const auto columns = [&](const std::vector<std::string>& names) {
    CsvLog(folder / "a.csv", names);
  };
  CHECK(complaint([&] { columns({}); }, {"CsvLog: there are no columns"}) == "");
  CHECK(complaint([&] { columns({"a", ""}); }, {"'' needs a name"}) == "");
  CHECK(complaint([&] { columns({"a", "b", "a"}); }, {"'a' stands twice"}) == "");
  CHECK(complaint([&] { columns({"a\nb"}); }, {"'a?b' has a control character"}) == "");
  CHECK(folder.files() == 0);
  CsvLog log(folder / "a.csv", {"a", "b"});
  CHECK(complaint([&] { log.row({1}); }, {"a row of 1 cells for the 2 columns", "a.csv"}) == "");
  CHECK(content(folder / "a.csv") == "a,b\n");
  CHECK(complaint([&] { CsvLog(folder / "a.csv/b.csv", {"a"}); }, {"cannot write", "b.csv"}) == "");
  if (!std::filesystem::exists("/dev/full")) return;
  CHECK(complaint([&] { CsvLog("/dev/full", {"a"}).row({1}); },
                  {"CsvLog: cannot write /dev/full: No space left"}) == "");
}

TEST_CASE("a whole table is written as a log would be, and reads back", "[phase5][io]") {
  const TemporaryFolder folder;
  const auto path = folder / "new/a.csv";
  const CsvTable table{{"a", "b, c"}, {{1, 0.1}, {std::nullopt, -infinity}, {1.0 / 3, 1e16}}};
  write_csv(path, table);
  {
    CsvLog log(folder / "log.csv", table.columns);
    for (const CsvRow& row : table.rows) log.row(row);
  }
  CHECK(content(path) == "a,\"b, c\"\n1,0.1\n,-inf\n0.3333333333333333,1e+16\n");
  CHECK(content(path) == content(folder / "log.csv"));
  CHECK(read_csv(path).columns == table.columns);
  CHECK(read_csv(path).rows == table.rows);
  write_csv(path, {{"one"}, {}});  // replaces it
  CHECK(content(path) == "one\n");
}

TEST_CASE("a table that cannot be written leaves an older file as it was", "[phase5][io]") {
  const TemporaryFolder folder;
  const auto path = folder / "a.csv";
  const auto write = [&](const CsvTable& table) { write_csv(path, table); };
  std::ofstream(path) << "old";
  CHECK(complaint([&] { write({}); }, {"write_csv: there are no columns"}) == "");
  CHECK(complaint([&] { write({{"a", "a"}, {}}); }, {"write_csv: ", "'a' stands twice"}) == "");
  CHECK(complaint([&] { write({{"a", "b"}, {{1, 2}, {3}}}); },
                  {"write_csv: a row of 1 cells for the 2 columns", "a.csv"}) == "");
  CHECK(complaint([&] { write_csv(path / "b.csv", {{"a"}, {}}); },
                  {"write_csv: cannot write", "b.csv"}) == "");
  CHECK(content(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("tables of other programs are read", "[phase2][io]") {
  const CsvTable table = read(
      "\xEF\xBB\xBF\"\",\"a \"\"b\"\"\"\r\n"
      "0, 1.50 \r\n\r\n\"1\",\"-2E3\"\r\n2,");
  CHECK(table.columns == std::vector<std::string>{"", "a \"b\""});
  CHECK(table.rows == std::vector<CsvRow>{{0, 1.5}, {1, -2000}, {2, std::nullopt}});
  CHECK(read("a,b\n").rows.empty());
  CHECK(read("a\nINF\n").column("a") == std::vector<double>{infinity});
}

TEST_CASE("what is no table of numbers is refused with its place", "[phase2][io]") {
  CHECK(refused("", {"read_csv: ", "a.csv: it is empty"}) == "");
  CHECK(refused("a,b\n1,2\n1,x y\n", {"a.csv: line 3: column 'b': 'x y' is not a number"}) == "");
  CHECK(refused("a\n1e999\n", {"'1e999' is not a number"}) == "");
  CHECK(refused("a\n0x10\n", {"'0x10' is not a number"}) == "");
  CHECK(refused("a,b\n1\n", {"line 2: it has 1 cells, the header 2"}) == "");
  CHECK(refused("a,b\n1,2,3\n", {"line 2: it has more cells than the header, 2"}) == "");
  CHECK(refused("a\n\"1\n", {"line 2: column 'a': a quote is not closed"}) == "");
  CHECK(refused("a,b\n\"1\"2,3\n", {"line 2: column 'a': something follows the quotes"}) == "");
  CHECK(refused("a\n\x01\n", {"'?' is not a number"}) == "");
  CHECK(complaint([] { read("a,b\n").column("c"); },
                  {"there is no column 'c'; there are 'a', 'b'"}) == "");
  CHECK(complaint([] { read_csv("/nowhere/a.csv"); }, {"a.csv: there is no such file"}) == "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a table larger than memory is refused by name", "[io]") {
  const TemporaryFolder folder;
  const auto path = folder / "a.csv";
  std::ofstream(path, std::ios::binary) << "a\n";
  std::filesystem::resize_file(path, 10'000'000'000);  // with a hole: it takes no space
  const MemoryLimit limit(1'000'000'000);
  CHECK(complaint([&] { read_csv(path); },
                  {"read_csv: ",
                   "a.csv: there is not enough memory to read its 10000000000 bytes"}) == "");
  CHECK(complaint([&] { CsvLog(path, {"a"}, {.resume_after = 3.0}); },
                  {"CsvLog: ", "a.csv: there is not enough memory"}) == "");
}
#endif
