// An experiment for step 54: how many heads, and how wide? Twelve seeds for each setting.
//
// Runs that are not done at the limit are counted as such. So the table has medians, and their 95 %
// interval: the third and the tenth of twelve sorted numbers. Pairs of settings are compared by
// ranks. p is the share of 20000 random exchanges of seeds between the two settings that part their
// ranks as far; times the number of pairs that are compared (Bonferroni), so that one small p among
// many is not taken for a finding. One head is tried again with twelve new seeds. Then each number
// of heads gets the best of five learning rates, and is compared with new seeds at that rate, from
// the large start and from the small one (step 25). Takes about 20 minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/head_counts.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 12;
constexpr Index limit = 3000;       // of steps
using Steps = std::vector<double>;  // of each seed, sorted; infinite where not done

const std::vector<HeadSetting> settings = {
    {1, 64, 64}, {2, 32, 32}, {4, 16, 16}, {8, 8, 8},  {16, 4, 4},  // one width of the model
    {4, 4, 16},  {16, 16, 4}, {4, 16, 4},  {1, 16, 64}};            // one thing changed alone
constexpr std::size_t usual = 5;  // the first so many have d_k = d_v = 64 / heads

struct Pair {
  std::size_t a, b;
  std::string question;
};
std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < usual; ++a) {
    for (std::size_t b = a + 1; b < usual; ++b) pairs.push_back({a, b, ""});
  }
  pairs.push_back({2, 5, "keys of 4 instead of 16"});
  pairs.push_back({6, 4, "keys of 4 instead of 16"});
  pairs.push_back({2, 7, "values of 4 instead of 16"});
  pairs.push_back({7, 6, "16 heads instead of 4"});
  pairs.push_back({0, 8, "keys of 16 instead of 64"});
  return pairs;
}

struct Runs {
  std::uint64_t first = 1;  // seed
  double rate = 3e-3;
};

std::string name(const HeadSetting& s) {
  return formatted("%2td x (%2td, %2td)", s.heads, s.d_k, s.d_v);
}

std::string number(double steps) {
  return std::isfinite(steps) ? std::to_string(static_cast<int>(steps)) : "-";
}

std::string seeds_of(const Runs& runs) {
  return "seeds " + std::to_string(runs.first) + " to " + std::to_string(runs.first + seeds - 1);
}

Steps run(const TinyTask& task, const HeadSetting& setting, const Runs& runs) {
  Steps steps;
  for (std::uint64_t seed = runs.first; seed < runs.first + seeds; ++seed) {
    const StepsToLearn result = steps_to_learn(task, setting, seed, limit, runs.rate);
    steps.push_back(result.done ? static_cast<double>(result.steps) : INFINITY);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

double median(const Steps& steps) { return (steps[5] + steps[6]) / 2; }

int not_done(const Steps& steps) {
  return static_cast<int>(std::count(steps.begin(), steps.end(), INFINITY));
}

void print(const TinyTask& task, const HeadSetting& setting, const Steps& steps) {
  std::printf("%s %8lld ", name(setting).c_str(),
              static_cast<long long>(model_with_heads(task, setting, 1).num_parameters()));
  std::printf("%6s  %5s to %-5s", number(median(steps)).c_str(), number(steps[2]).c_str(),
              number(steps[9]).c_str());
  std::printf(" %5s to %-5s %6d\n", number(steps.front()).c_str(), number(steps.back()).c_str(),
              not_done(steps));
}

// The rank of each number among all of them; equal ones share their mean rank.
std::vector<double> ranks(const Steps& all) {
  std::vector<double> result;
  for (const double x : all) {
    const auto less = std::count_if(all.begin(), all.end(), [&](double y) { return y < x; });
    const auto same = std::count(all.begin(), all.end(), x);
    result.push_back(static_cast<double>(less) + static_cast<double>(same - 1) / 2);
  }
  return result;
}

// How far the mean ranks of the first and the second half are apart.
double apart(const std::vector<double>& ranks, const std::vector<Index>& order) {
  double sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = ranks[static_cast<std::size_t>(order[i])];
    sum += i < order.size() / 2 ? rank : -rank;
  }
  return std::abs(sum);
}

double p_of(const Steps& a, const Steps& b) {
  Steps both = a;
  both.insert(both.end(), b.begin(), b.end());
  const std::vector<double> of = ranks(both);
  std::vector<Index> order(both.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const double found = apart(of, order);
  Random random(1);
  constexpr int draws = 20000;
  int as_far = 1;  // the order that was found is one of them
  for (int i = 1; i < draws; ++i) {
    as_far += apart(of, random.permutation(static_cast<Index>(order.size()))) >= found - 1e-9;
  }
  return static_cast<double>(as_far) / draws;
}

// Prints the pairs with p below 0.05, and those with a question.
void compare(const std::vector<Steps>& steps, const std::vector<Pair>& pairs) {
  std::printf("\nPairs: %zu; p times %zu, * where that is below 0.05\n", pairs.size(),
              pairs.size());
  double smallest = 1;  // of the others
  std::size_t others = 0;
  for (const Pair& pair : pairs) {
    const double p =
        std::min(1.0, p_of(steps[pair.a], steps[pair.b]) * static_cast<double>(pairs.size()));
    if (p >= 0.05 && pair.question.empty()) {
      ++others;
      smallest = std::min(smallest, p);
      continue;
    }
    std::printf("%s and %s  %5.3f %s %s\n", name(settings[pair.a]).c_str(),
                name(settings[pair.b]).c_str(), p, p < 0.05 ? "*" : " ", pair.question.c_str());
  }
  if (others == 0) return;
  std::printf("%s %zu: %5.3f and more\n", others == pairs.size() ? "all" : "the other", others,
              smallest);
}

constexpr char columns[] =
    "heads (d_k, d_v) learned  median   95 % interval   all           not done\n";

// Those settings whose numbers are in `which`.
void measure(TaskKind kind, const std::vector<std::size_t>& which, const std::vector<Pair>& pairs,
             const Runs& runs = {}) {
  const TinyTask task(kind, {.shortest = 3, .longest = 5});
  std::printf("\n%s, %s, rate %g: steps until 99 %% of 200 held-out answers are right\n%s",
              to_string(kind).c_str(), seeds_of(runs).c_str(), runs.rate, columns);
  std::vector<Steps> steps(settings.size());
  Progress progress(to_string(kind), std::ssize(which), "settings");
  for (const std::size_t i : which) {
    steps[i] = run(task, settings[i], runs);
    print(task, settings[i], steps[i]);
    progress.step();
  }
  compare(steps, pairs);
}

using Rates = std::array<double, 5>;

// The usual settings, each at the rate with its lowest median among `seeds` runs, on new seeds.
void measure_at_best_rates(TaskKind kind, const std::vector<Pair>& pairs, const Rates& rates,
                           bool small_start) {
  const TinyTask task(kind, {.shortest = 3, .longest = 5});
  const std::string what = to_string(kind) + (small_start ? " from the small start" : "");
  std::vector<HeadSetting> started(settings.begin(), settings.begin() + usual);
  for (HeadSetting& one : started) one.start = small_start ? init::normal : init::lecun_normal;
  std::printf("\n%s, seeds 1 to %d: median, and how many are not done\n", what.c_str(), int(seeds));
  std::printf("rate       1 head   2 heads   4 heads   8 heads  16 heads\n");
  std::array<double, usual> best, best_rate;
  best.fill(INFINITY);
  best_rate.fill(rates.back());
  Progress progress(to_string(kind), static_cast<Index>(usual * (rates.size() + 1)), "settings");
  for (const double rate : rates) {
    std::printf("%-6g", rate);
    for (std::size_t i = 0; i < usual; ++i) {
      const Steps steps = run(task, started[i], {.rate = rate});
      std::printf("  %5s %2d", number(median(steps)).c_str(), not_done(steps));
      if (median(steps) < best[i]) best[i] = median(steps), best_rate[i] = rate;
      progress.step();
    }
    std::printf("\n");
  }
  std::printf("\n%s, %s, each at its best rate\nrate   %s", what.c_str(),
              seeds_of({.first = 13}).c_str(), columns);
  std::vector<Steps> steps(settings.size());
  for (std::size_t i = 0; i < usual; ++i) {
    steps[i] = run(task, started[i], {.first = 13, .rate = best_rate[i]});
    std::printf("%-6g ", best_rate[i]);
    print(task, settings[i], steps[i]);
    progress.step();
  }
  compare(steps, pairs);
}

}  // namespace

int main() try {
  std::printf("Experiment: how many heads, and how wide (takes about 20 minutes)\n");
  std::printf("-: not done in %d steps\n", int(limit));
  const std::vector<Pair> pairs = all_pairs(), usual_pairs(pairs.begin(), pairs.begin() + 10);
  measure(TaskKind::induction, {0, 1, 2, 3, 4, 5, 6, 7, 8}, pairs);
  measure(TaskKind::induction, {0, 8}, {pairs.back()}, {.first = 13});
  const Rates rates = {5e-4, 1e-3, 2e-3, 3e-3, 6e-3}, higher = {1e-3, 2e-3, 3e-3, 6e-3, 1.2e-2};
  measure_at_best_rates(TaskKind::induction, usual_pairs, rates, false);
  measure_at_best_rates(TaskKind::reverse, usual_pairs, higher, false);
  measure_at_best_rates(TaskKind::reverse, usual_pairs, rates, true);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
