// The tape as a graph for Graphviz, read back by a parser of its own, and by dot where that is.
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

struct Graph {
  std::map<std::size_t, std::string> labels;  // lines parted by '\n', escapes undone
  std::vector<std::pair<std::size_t, std::size_t>> arrows;
};

std::string shown(const std::string& label) {
  std::string text;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\') {
      text += label[i];
    } else {
      ++i;
      text += label.at(i) == 'n' ? '\n' : label[i];
    }
  }
  return std::regex_replace(text, std::regex("&amp;"), "&");
}

// Each line must be one of the few that such a file is made of.
Graph parsed(const std::string& text) {
  const std::regex node(
      R"re(  (\d+) \[label="((?:[^"\\]|\\.)*)"(?:, fillcolor="#[0-9a-f]{6}")?\];)re");
  const std::regex arrow(R"(  (\d+) -> (\d+);)");
  std::istringstream lines(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  REQUIRE(all.size() >= 4);
  CHECK(all.front() == "digraph tape {");
  CHECK(all.back() == "}");
  Graph graph;
  for (std::size_t i = 3; i + 1 < all.size(); ++i) {
    CAPTURE(all[i]);
    std::smatch found;
    if (std::regex_match(all[i], found, node)) {
      graph.labels[std::stoul(found[1])] = shown(found[2]);
    } else {
      REQUIRE(std::regex_match(all[i], found, arrow));
      graph.arrows.emplace_back(std::stoul(found[1]), std::stoul(found[2]));
    }
  }
  return graph;
}

// Whether Graphviz reads it without a word; true where it is not installed.
bool is_read_by_dot(const std::string& text) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0) return true;
  const TemporaryFolder folder;
  std::ofstream(folder / "tape.dot") << text;
  const std::string command = "dot -Tsvg '" + (folder / "tape.dot").string() + "' >'" +
                              (folder / "tape.svg").string() + "' 2>'" +
                              (folder / "words").string() + "'";
  return std::system(command.c_str()) == 0 && content(folder / "words").empty() &&
         content(folder / "tape.svg").find("</svg>") != std::string::npos;
}

}  // namespace

TEST_CASE("a tape as a graph has a node for each record and an arrow for each input", "[phase0]") {
  const Tensor x = Tensor::ones({4, 2}), w = Tensor::ones({2, 3}), b = Tensor::ones({3});
  Tape tape(Parameters{{"W", w}, {"b", b}});
  const Tensor y = matmul(x, w) + b;
  tape.label(y, "y");
  sum(y * y);
  const Graph graph = parsed(tape.dot());
  const std::map<std::size_t, std::string> labels = {
      {0, "W\nwatched\n(2, 3)"}, {1, "b\nwatched\n(3)"},  {2, "matmul\n(4, 3)"},
      {3, "y\nadd\n(4, 3)"},     {4, "multiply\n(4, 3)"}, {5, "sum\n()"}};
  CHECK(graph.labels == labels);
  CHECK(graph.arrows == std::vector<std::pair<std::size_t, std::size_t>>{
                            {0, 2}, {2, 3}, {1, 3}, {3, 4}, {3, 4}, {4, 5}});
  std::istringstream lines(tape.dot());
  for (std::string line; std::getline(lines, line);) {  // what is watched has a colour of its own
    if (line.find(" [label=") == std::string::npos) continue;
    CHECK((line.find("fff4e6") != std::string::npos) ==
          (line.find("watched") != std::string::npos));
  }
  CHECK(is_read_by_dot(tape.dot()));
}

TEST_CASE("labels of any signs are shown as they are, in one line", "[phase0]") {
  for (const std::string label : {"a \"quoted\" name", "back\\slash\\n", "&lt;tag&gt; & <b>",
                                  "d²/√k", "\\", "\"", "]; } 1 -> 2;"}) {
    CAPTURE(label);
    const Tape tape(Parameters{{label, Tensor(1)}});
    CHECK(parsed(tape.dot()).labels.at(0) == label + "\nwatched\n()");
    CHECK(is_read_by_dot(tape.dot()));
  }
  const Tape odd(Parameters{{"two\nlines\xFF\x7F", Tensor(1)}});
  CHECK(parsed(odd.dot()).labels.at(0) == "two?lines??\nwatched\n()");
  CHECK(is_read_by_dot(odd.dot()));
}

TEST_CASE("an empty tape is a graph without nodes", "[phase0]") {
  const Tape tape(Parameters{});
  CHECK(parsed(tape.dot()).labels.empty());
  CHECK(is_read_by_dot(tape.dot()));
}
