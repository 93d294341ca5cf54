// The tables of step 78.
#include "course/head_tables.hpp"

#include <algorithm>
#include <sstream>

#include "catch.hpp"
#include "printed_by.hpp"
#include "tapestry/format.hpp"

using namespace tapestry;

TEST_CASE("heads cut alone: what each costs, and its place among all", "[phase7][course]") {
  Random random(3);
  const Transformer model({.vocab_size = 12, .max_length = 9, .d_model = 8, .num_heads = 2},
                          random);
  const HeadStudy study(model, random_readings(1, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4, random));
  std::istringstream printed(stdout_of([&] { print_single_cuts(study); }));
  const auto expect = [&](const std::string& name, HeadOf one, const Heads& by_cost) {
    const auto is_it = [&](HeadOf h) { return h.layer == one.layer && h.head == one.head; };
    const auto place = std::find_if(by_cost.begin(), by_cost.end(), is_it) - by_cost.begin() + 1;
    const Falls& falls = study.fall_alone(one);
    std::string line;
    std::getline(printed, line);
    CHECK(line == formatted("   %-16s %td.%td %10.3f %12.3f %12td", name.c_str(), one.layer,
                            one.head, falls.again, falls.other, place));
  };
  Heads by_cost = heads_of(model);
  std::sort(by_cost.begin(), by_cost.end(), [&](HeadOf a, HeadOf b) {
    return study.fall_alone(a).again > study.fall_alone(b).again;
  });
  std::string line;
  std::getline(printed, line);
  CHECK(line == "   cut alone             read again    another   place of 4");
  for (const HeadKind kind : head_kinds) {
    expect(to_string(kind), study.by_score(study.again_scores, kind, 3).front(), by_cost);
  }
  expect("costs most", by_cost.front(), by_cost);
  std::getline(printed, line);
  const double sum = study.summed_falls(by_cost).again;
  CHECK(line.starts_with(formatted("   all, mean         %9.3f ±", sum / 4)));
}

TEST_CASE("heads cut together: a line for each sort of texts", "[phase7][course]") {
  CHECK(stdout_of([] {
          print_costs({{"again", 0.5, 0.25, 0.125, {0.75, 0.5, 12}, 1}, {"other", 0, 0, 0, {}, 0}});
        }) ==
        "      again                  0.50    0.25    0.12    0.75 ±0.50    1.00\n"
        "      other                  0.00    0.00    0.00    0.00 ±0.00    0.00\n");
}
