// `tapestry analyze --table`: the numbers of the heads, as a file.
#include <cmath>

#include "catch.hpp"
#include "course/grammar.hpp"
#include "process.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/csv.hpp"
#include "tapestry/io/transformer_file.hpp"

using namespace tapestry;

namespace {

Result analyze(const std::filesystem::path& folder, const std::string& more) {
  return tapestry_in(folder,
                     "analyze --checkpoint '" + (models() / "words").string() + "' --text " + more);
}

const std::string sentence = "'the cat sat on the mat' ";  // 7 words with <bos>

// The row of a head of a decoder by plain loops, from weights (1, heads, 7, 7).
std::vector<double> row_of(const Tensor& weights, Index layer, Index head) {
  std::vector<double> row = {double(layer), double(head), 0, 0, 0, 0, 0, 0, -1};
  for (Index i = 0; i < 7; ++i) {
    row[3] += std::log(double(i + 1)) / 7;
    for (Index j = 0; j <= i; ++j) {
      const double w = double{weights.at({0, head, i, j})}, distance = double(i - j);
      if (w > 0) row[2] -= w * std::log(w) / 7;
      row[4] += w * distance / 7;
      row[5] += distance / double(i + 1) / 7;
      if (i >= 2 && w > row[8]) row[6] = double(i), row[7] = double(j), row[8] = w;
    }
  }
  return row;
}

}  // namespace

TEST_CASE("analyze --table writes the numbers of every head, all digits", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result said = analyze(folder / "", sentence + "--table new/heads.csv");
  CHECK(wrong(said) == "");
  CHECK(said.out.ends_with("analyze_flow.png\nwrote new/heads.csv\n"));
  const CsvTable table = read_csv(folder / "new/heads.csv");
  CHECK(table.columns == std::vector<std::string>{"layer", "head", "entropy", "even entropy",
                                                  "distance", "even distance", "link query",
                                                  "link key", "link weight"});
  const Transformer model = read_transformer(models() / "words");
  const Capture seen;
  model(Vocabulary(Grammar().words()).encode("<bos> the cat sat on the mat"), {},
        {.need_weights = true});
  REQUIRE(table.rows.size() == 4);
  for (Index i = 0; i < 4; ++i) {
    const std::string layer = std::to_string(i / 2);
    const auto right = row_of(seen["blocks." + layer + ".attention.weights"], i / 2, i % 2);
    for (std::size_t column = 0; column < right.size(); ++column) {
      CAPTURE(i, table.columns[column]);
      const double written = table.rows[std::size_t(i)][column].value();
      CHECK(std::abs(written - right[column]) < 1e-5);
    }
  }
}

TEST_CASE("analyze --table has the heads that were chosen, and changes nothing that is printed",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const std::string one = sentence + "--layer 1 --head 0 ";
  const Result plain = analyze(folder / "", one);
  const Result all = analyze(folder / "", sentence + "--table heads.csv");
  CHECK(wrong(all) == "");
  const CsvTable whole = read_csv(folder / "heads.csv");
  const Result said = analyze(folder / "", one + "--table heads.csv");  // replaces it
  CHECK(said.out == plain.out + "wrote heads.csv\n");
  CHECK(read_csv(folder / "heads.csv").rows == std::vector<CsvRow>{whole.rows.at(2)});
}

TEST_CASE("analyze --table leaves the link empty where no query has a choice", "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(wrong(analyze(folder / "", "the --head 1 --table heads.csv")) == "");  // <bos> the
  const CsvTable table = read_csv(folder / "heads.csv");
  REQUIRE(table.rows.size() == 2);
  for (const CsvRow& row : table.rows) {
    CHECK(row.at(1) == 1);
    CHECK(row.at(5) == 0.25);
    CHECK(CsvRow(row.begin() + 6, row.end()) == CsvRow(3));
  }
}

TEST_CASE("analyze --table refuses names that no file can have before the work",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << "hello";
  const auto refused = [&](const std::string& table, const std::string& words) {
    const Result result = analyze(folder / "", sentence + "--table " + table);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(result.err == "tapestry: " + words + "\n");
    CHECK(all_in(folder / "") == std::vector<std::string>{"text"});
  };
  refused(".", "--table '.' is a folder: name a file.");
  refused("text/x.csv", "--table 'text/x.csv': 'text' is no folder.");
  CHECK(content(folder / "text") == "hello");
  CHECK(analyze(folder / "", "'' --table heads.csv").status == 1);  // an empty text
  CHECK(all_in(folder / "") == std::vector<std::string>{"text"});
}

TEST_CASE("a file that is written is none of the model that is read", "[phase5][tools]") {
  const TemporaryFolder folder;
  std::filesystem::copy(models() / "words", folder / "m");
  std::filesystem::create_directory(folder / "kept");
  std::filesystem::copy(models() / "words", folder / "kept/words.safetensors");
  const std::string before = content(folder / "m");
  for (const std::string work : {"analyze --table", "cut --json", "cut --npy", "circuit --json"}) {
    for (const std::string file : {"m", "kept/../m"}) {
      CAPTURE(work, file);
      const Result result =
          tapestry_in(folder / "", work + " " + file + " --checkpoint m --text " + sentence);
      CHECK(result.status == 1);
      CHECK(has(result.err, "'" + file + "' is a file of the model that is read: name another."));
      CHECK(content(folder / "m") == before);
    }
  }
  // A folder of a model: its files, but not a new one beside them.
  const Result inside = tapestry_in(
      folder / "", "analyze --table kept/words.safetensors --model kept --text " + sentence);
  CHECK(has(inside.err, "is a file of the model that is read"));
  CHECK(content(folder / "kept/words.safetensors") == before);
}

TEST_CASE("analyze --table tells that a disk is full, and nothing else", "[phase5][tools]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const TemporaryFolder folder;
  const Result result = analyze(folder / "", sentence + "--table /dev/full");
  CHECK(result.status == 1);
  CHECK(result.out == "");
  CHECK(has(result.err, "tapestry: cannot write /dev/full: No space left"));
}
