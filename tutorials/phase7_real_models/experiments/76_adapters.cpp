// An experiment for step 76: adapters of rank 1 to 8 and the whole model, ten seeds of each.
//
// Medians of ten seeds, with the least and the greatest in brackets. Four questions: what do
// adapters learn, and what is forgotten? Is less forgotten where both know the new text equally
// well? Has the whole model's change a low rank, beside random changes and beside the change that
// made the model from random weights; and does the part of that rank do? Do the learning rates
// decide it? ("maps": the weights of the maps that have adapters elsewhere learn, at full rank,
// and nothing else does. "both": the whole model reads old and new text in turn, in twice the
// steps: how low can both losses be? "rest": all but the weights of these maps learns, alone or
// beside adapters.)
// Takes about 7 minutes of processor time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/dialects.hpp"
#include "course/low_rank_change.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index maps_only = -1, both_texts = -2;
const std::vector<Index> ranks = {0, 1, 2, 4, 8, 32, maps_only, both_texts};  // 0: the whole model
const std::vector<Index> kept = {0, 1, 2, 4, 8, 16, 64};
const std::vector<Dialect> dialects = {Dialect::exchanged, Dialect::backwards};

std::string name(Index rank) {
  if (rank <= 0) return rank == 0 ? "whole  " : rank == maps_only ? "maps   " : "both   ";
  return "rank " + std::to_string(rank) + (rank < 10 ? " " : "");
}

DialectRun run_of(Index rank, std::uint64_t seed) {
  return {.rank = std::max<Index>(rank, 0),
          .maps_only = rank == maps_only,
          .both = rank == both_texts,
          .rate = rank <= 0 ? 3e-3 : 1e-2,
          .steps = rank == both_texts ? 600 : 300,
          .seed = seed,
          .every = 20};
}

std::string summary(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return formatted("%6.3f (%5.3f to %5.3f)", (x[4] + x[5]) / 2, x.front(), x.back());
}

using Runs = std::vector<Learned>;  // of each seed

template <class Number>
std::string of_seeds(const Runs& runs, Number number) {
  std::vector<double> all;
  for (const Learned& run : runs) all.push_back(number(run));
  return summary(all);
}

void print_losses(Dialect dialect, const std::vector<Runs>& runs) {
  std::printf("\n%s: loss after 300 steps, and of the old text\n", to_string(dialect).c_str());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::printf(
        "%s %s %s\n", name(ranks[i]).c_str(),
        of_seeds(runs[i], [](const Learned& l) { return l.points.back().loss_of_new; }).c_str(),
        of_seeds(runs[i], [](const Learned& l) { return l.points.back().loss_of_old; }).c_str());
  }
}

void print_forgetting(Dialect dialect, const std::vector<Runs>& runs) {
  std::printf("\n%s: old loss at equal new loss, adapters and whole model\n",
              to_string(dialect).c_str());
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    std::vector<double> beside, whole;
    int less = 0;
    for (std::size_t s = 0; s < seeds; ++s) {
      const double loss =
          std::max(runs[i][s].points.back().loss_of_new, runs[0][s].points.back().loss_of_new) +
          0.02;
      beside.push_back(loss_of_old_at(runs[i][s], loss));
      whole.push_back(loss_of_old_at(runs[0][s], loss));
      less += beside.back() < whole.back();
    }
    std::printf("%s %s %s  adapters forgot less: %d of %d\n", name(ranks[i]).c_str(),
                summary(beside).c_str(), summary(whole).c_str(), less, static_cast<int>(seeds));
  }
}

void print_ranks(Dialect dialect, const std::vector<Transformer>& before, const Runs& whole) {
  std::printf("\n%s, whole model: share of the change, and loss with that part alone\n",
              to_string(dialect).c_str());
  for (const Index rank : kept) {
    std::vector<double> shares, losses;
    for (std::size_t s = 0; s < seeds; ++s) {
      shares.push_back(share_of_change(before[s], whole[s].model, rank));
      losses.push_back(loss_in(dialect, with_rank(before[s], whole[s].model, rank)));
    }
    std::printf("first %2lld %s %s\n", static_cast<long long>(rank), summary(shares).c_str(),
                summary(losses).c_str());
  }
}

void print_controls(const std::vector<Transformer>& before) {
  std::printf("\nshare of random changes; of what made the old model from random weights\n");
  for (const Index rank : kept) {
    std::vector<double> random, made;
    for (std::uint64_t s = 0; s < seeds; ++s) {
      const Transformer start = learn_dialect(Dialect::plain, 0, s + 1);
      random.push_back(share_of_random(before[s], rank, s + 1));
      made.push_back(share_of_change(start, before[s], rank));
    }
    std::printf("first %2lld %s %s\n", static_cast<long long>(rank), summary(random).c_str(),
                summary(made).c_str());
  }
}

struct Setting {
  std::string name;
  DialectRun run;
};

// Is it the rank that holds adapters back in `backwards`, or that the rest stays fixed?
void print_rest(const std::vector<Transformer>& before) {
  std::printf("\nbackwards, maps and the rest: loss after 300 steps, and of the old text\n");
  const std::vector<Setting> settings = {{"rest         ", {.rest = true, .rate = 3e-3}},
                                         {"rest         ", {.rest = true, .rate = 1e-2}},
                                         {"rest + rank 1", {.rank = 1, .rest = true, .rate = 1e-2}},
                                         {"rest + rank 8", {.rank = 8, .rest = true, .rate = 3e-3}},
                                         {"rest + rank 8", {.rank = 8, .rest = true, .rate = 1e-2}},
                                         {"maps         ", {.maps_only = true, .rate = 1e-3}},
                                         {"maps         ", {.maps_only = true, .rate = 1e-2}}};
  for (auto [what, run] : settings) {
    Runs runs;
    run.steps = run.every = 300;
    for (std::size_t s = 0; s < seeds; ++s) {
      run.seed = s + 1;
      runs.push_back(go_on(before[s], Dialect::backwards, run));
    }
    std::printf(
        "%s %6lld numbers  rate %.3f %s %s\n", what.c_str(),
        static_cast<long long>(runs[0].numbers), run.rate,
        of_seeds(runs, [](const Learned& l) { return l.points.back().loss_of_new; }).c_str(),
        of_seeds(runs, [](const Learned& l) { return l.points.back().loss_of_old; }).c_str());
  }
}

void print_long(const std::vector<Transformer>& before) {
  std::printf("\nbackwards, 900 steps, seeds 1 to 3: new loss, and old loss\n");
  for (const Index rank : {Index{0}, maps_only, Index{1}, Index{8}}) {
    DialectRun run = run_of(rank, 1);
    run.steps = run.every = 900;
    std::printf("%s rate %.3f ", name(rank).c_str(), run.rate);
    for (std::uint64_t s = 0; s < 3; ++s) {
      run.seed = s + 1;
      const DialectPoint end = go_on(before[s], Dialect::backwards, run).points.back();
      std::printf("  %5.3f %5.3f", end.loss_of_new, end.loss_of_old);
    }
    std::printf("\n");
  }
}

// With the loss of the old text where that of the new one first is `level`.
void print_rates(Dialect dialect, double level, const std::vector<Transformer>& before) {
  std::printf("\n%s, learning rates, seeds 1 to 3: new loss, and old loss at new %.1f\n",
              to_string(dialect).c_str(), level);
  for (const Index rank : {Index{0}, Index{8}}) {
    for (const double rate : {1e-3, 3e-3, 1e-2, 3e-2}) {
      if (rate == (rank == 0 ? 3e-2 : 1e-3)) continue;  // far from the best
      std::printf("%s rate %.3f ", name(rank).c_str(), rate);
      for (std::uint64_t s = 0; s < 3; ++s) {
        DialectRun run = run_of(rank, s + 1);
        run.rate = rate;
        const Learned learned = go_on(before[s], dialect, run);
        std::printf("  %5.3f %5.3f", learned.points.back().loss_of_new,
                    loss_of_old_at(learned, level));
      }
      std::printf("\n");
    }
  }
}

}  // namespace

int main() try {
  std::printf("Experiment: adapters and whole models, %d seeds (takes about 7 minutes)\n",
              static_cast<int>(seeds));
  std::vector<Transformer> before;
  for (std::uint64_t s = 1; s <= seeds; ++s) {
    before.push_back(learn_dialect(Dialect::plain, 600, s));
  }
  Progress progress("learning", static_cast<Index>(dialects.size() * ranks.size()), "settings");
  for (const Dialect dialect : dialects) {
    std::vector<Runs> runs;
    for (const Index rank : ranks) {
      runs.emplace_back();
      for (std::uint64_t s = 0; s < seeds; ++s) {
        runs.back().push_back(go_on(before[s], dialect, run_of(rank, s + 1)));
      }
      progress.step();
    }
    print_losses(dialect, runs);
    print_forgetting(dialect, runs);
    print_ranks(dialect, before, runs[0]);
  }
  print_controls(before);
  print_rates(Dialect::exchanged, 1.6, before);
  print_rates(Dialect::backwards, 2.4, before);
  print_rest(before);
  print_long(before);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
