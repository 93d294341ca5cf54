// What step 33 shows of patterns.
#include "course/evidence_pictures.hpp"

#include <cmath>

#include "catch.hpp"

using namespace tapestry;

namespace {

// Evidence for all patterns, with one score for one of them, far above its baselines.
std::vector<Evidence> head_with(Pattern pattern, Index offset = 0) {
  std::vector<Evidence> head;
  for (const Pattern each : all_patterns) {
    Evidence& one = head.emplace_back();
    one.pattern = each;
    one.score = one.untrained = {.mean = 0.125, .deviation = 0, .count = 9};
  }
  Evidence& one = head[static_cast<std::size_t>(pattern)];
  one.score = {.mean = 0.75, .deviation = 0, .count = 9};
  one.holds = 0.9;
  one.uniform = 0.25;
  one.shuffled.mean = 0.5;
  one.offset = offset;
  return head;
}

}  // namespace

TEST_CASE("a head's line has its name, the evidence, and what is lost without it",
          "[phase3][course]") {
  std::vector<Evidence> head = head_with(Pattern::fixed_offset, -3);
  CHECK(evidence_line("copy 1.0", head, 0.0214) ==
        "copy 1.0      fixed offset -3 0.75  90%  0.12  0.25  0.50       -     -   0.021");
  Evidence& control = head[static_cast<std::size_t>(Pattern::induction)];
  control.letter = {.mean = 0.04, .count = 5};
  control.place = {.mean = 0.64, .count = 5};
  CHECK(evidence_line("copy 1.0", head, 0.0214) ==
        "copy 1.0      fixed offset -3 0.75  90%  0.12  0.25  0.50    0.04  0.64   0.021");
  head[static_cast<std::size_t>(Pattern::fixed_offset)].holds = 0.5;
  CHECK(evidence_line("copy 1.0", head, 1) ==
        "copy 1.0      none                                                       1.000");
  head = head_with(Pattern::induction);
  head[static_cast<std::size_t>(Pattern::induction)].place = {.mean = 0.9, .count = 5};
  CHECK(evidence_line("copy 1.0", head, 1) ==
        "copy 1.0      by place                                                   1.000");
}

TEST_CASE("a map of patterns has a row for each head, and masks what no row can show",
          "[phase3][course]") {
  const plot::Heatmap map = evidence_map({"a 0.0", "a 0.1"}, 2, {0.25, 0.5, NAN, 1});
  CHECK(map.rows == 2);
  CHECK(map.columns == 2);
  CHECK(map.row_labels == std::vector<std::string>{"a 0.0", "a 0.1"});
  CHECK(map.column_labels == std::vector<std::string>{"self", "previous word"});
  CHECK(map.values == std::vector<double>{0.25, 0.5, 0, 1});
  CHECK(map.masked == std::vector<bool>{false, false, true, false});
  CHECK((map.low == 0.0 && map.high == 1.0));
}
