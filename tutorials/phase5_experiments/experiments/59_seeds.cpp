// An experiment for step 59: which heads carry the answer, and do their weights tell it, in ten
// trainings of the decoder of step 43? One model can be an exception; seed 1 is that of the step.
// Takes about 40 seconds of processor time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "course/next_word_models.hpp"
#include "course/patching.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;
using namespace tapestry::patching;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index last = length - 1;
constexpr double carries = 0.05;  // a head that restores less carries almost nothing

// What is measured of one model: the rows' names and cells.
using Column = std::vector<std::pair<std::string, std::string>>;

std::string cell(double number) {
  return formatted("%.2f", std::abs(number) < 0.005 ? 0 : number);  // no "-0.00"
}

void print(const std::vector<Column>& models) {
  for (std::size_t row = 0; row < models.front().size(); ++row) {
    std::printf("%-19s", models.front()[row].first.c_str());
    for (const Column& column : models) std::printf(" %5s", column[row].second.c_str());
    std::printf("\n");
  }
}

double restored(const Findings& f, Index head) { return double{f.by_head.at({head, last})}; }

// All heads, from the one that restores most at the last word.
std::vector<Index> by_restored(const Findings& f) {
  std::vector<Index> order(2 * heads);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return restored(f, a) > restored(f, b); });
  return order;
}

double most_elsewhere(const Findings& f) {
  double most = 0;
  for (Index i = 0; i < 2 * heads; ++i) {
    for (Index at = 0; at < last; ++at)
      most = std::max(most, std::abs(double{f.by_head.at({i, at})}));
  }
  return most;
}

Column measure(const Patching& patching, const Findings& f, const Pairs& list) {
  const std::vector<Index> order = by_restored(f);
  const auto weight = [&](Index head) { return double{f.weights.at({head, list.changed})}; };
  Column column = {{"layer 0, attention", cell(double{f.by_place.at({1, last})})}};
  const Words ranks = {"first head", "second head", "third head"};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    column.push_back({ranks[i], head_name(order[i])});
    column.push_back({"  restores", cell(restored(f, order[i]))});
    column.push_back({"  its weight", cell(weight(order[i]))});
  }
  double misleading = 0;  // the largest weight
  for (const Index head : order) {
    if (restored(f, head) < carries) misleading = std::max(misleading, weight(head));
  }
  column.push_back({"below 0.05: weight", cell(misleading)});
  column.push_back({"elsewhere at most", cell(most_elsewhere(f))});
  column.push_back({"layer 0, all heads", cell(patching.restored_by_layer(0, list.clean))});
  column.push_back({"  third word", cell(patching.restored_by_layer(0, list.third))});
  column.push_back({"  same word", cell(patching.restored_by_layer(0, list.same_word))});
  column.push_back({"layer 1, all heads", cell(patching.restored_by_layer(1, list.clean))});
  column.push_back({"rank agreement", cell(agreement(f, list))});
  return column;
}

// Whether the same two heads restore most.
bool same_two(const Findings& a, const Findings& b) {
  const std::vector<Index> first = by_restored(a), second = by_restored(b);
  return std::is_permutation(first.begin(), first.begin() + 2, second.begin());
}

}  // namespace

int main() try {
  const Pairs verbs = draw_pairs("verb", Role::verb_object, 3),
              prepositions = draw_pairs("preposition", Role::preposition_place, 4);
  std::vector<Column> of_verbs, of_prepositions;
  int same = 0;
  Progress progress("training", static_cast<Index>(seeds), "models");
  std::printf("Restored by patches at the last word, and its weights on the word that differs\n");
  std::printf("%-19s", "seed");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_decoder(vocabulary(), seed);
    const Patching with_verbs(model, verbs), with_prepositions(model, prepositions);
    const Findings a = findings(model, with_verbs, verbs),
                   b = findings(model, with_prepositions, prepositions);
    of_verbs.push_back(measure(with_verbs, a, verbs));
    of_prepositions.push_back(measure(with_prepositions, b, prepositions));
    same += same_two(a, b);
    std::printf(" %5d", static_cast<int>(seed));
    progress.step();
  }
  std::printf("\n1. Another verb\n");
  print(of_verbs);
  std::printf("2. Another preposition\n");
  print(of_prepositions);
  std::printf("the same two heads restore most in both: %d of %d models\n", same,
              static_cast<int>(seeds));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
