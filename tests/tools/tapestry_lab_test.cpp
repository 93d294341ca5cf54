// `tapestry lab`: the table of all variants, compared with the library's laboratory.
#include <sstream>

#include "catch.hpp"
#include "course/laboratory.hpp"
#include "process.hpp"

using namespace tapestry;

namespace {

Result lab(const std::string& more) {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", "lab --repeats 1 --heads 2 --width 8" + more);
  CHECK(folder.files() == 0);
  return result;
}

// The row of that variant below "length N": its words behind the name.
std::vector<std::string> row(const std::string& out, Index length, const std::string& name) {
  const std::size_t table = out.find("\nlength " + std::to_string(length) + "\n");
  const std::size_t begin = out.find("\n" + name + " ", table);
  if (table == std::string::npos || begin == std::string::npos) return {};
  std::istringstream line(
      out.substr(begin + name.size() + 1, out.find('\n', begin + 1) - begin - name.size() - 1));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

}  // namespace

TEST_CASE("tapestry lab prints every variant for every length, as the library measures it",
          "[phase6][tools]") {
  const Result made = lab(" --lengths 9,40");
  CHECK(wrong(made) == "");
  for (const Index length : {9, 40}) {
    const LaboratoryInput in = laboratory_input({.num_heads = 2, .length = length, .width = 4});
    for (const Variant& variant : attention_variants(in.sizes)) {
      CAPTURE(length, variant.name);
      CHECK(has(made.out, "\n  " + variant.name + " "));
      const std::vector<std::string> words = row(made.out, length, variant.name);
      REQUIRE(words.size() == 7);
      const Measurement found = measure(variant, in, {.repeats = 1, .least_time = 0});
      if (!found.forward.skipped.empty()) {
        CHECK(words == std::vector<std::string>(7, "-"));
        continue;
      }
      CHECK(std::stod(words[0]) < 1e-4);
      CHECK(std::stod(words[2]) == Approx(found.error_vs_full).margin(1e-3));
      CHECK(std::stod(words[4]) == Approx(found.forward.bytes / (1 << 20)).margin(1e-3));
      const bool back = found.forward_backward.skipped.empty();
      CHECK((words[6] == "-") == !back);
      if (back)
        CHECK(std::stod(words[6]) == Approx(found.forward_backward.bytes / (1 << 20)).margin(1e-3));
    }
  }
  CHECK(has(made.out, "Growth: "));
}

TEST_CASE("tapestry lab says what it leaves out, and why", "[phase6][tools]") {
  const Result made = lab(" --lengths 1000 --causal --seconds 0 --threads 1");
  CHECK(wrong(made) == "");
  CHECK(has(made.out, "explicit, forward: it would take about "));
  CHECK(has(made.out, "explicit, both ways: it would take about "));
  CHECK(has(made.out, "not run: it sees what comes later"));
  CHECK(row(made.out, 1000, "explicit") == std::vector<std::string>(7, "-"));
  CHECK(!has(made.out, "Growth: "));
  CHECK(has(made.out, "to all positions up to the query's own"));
}
