// An experiment for step 78: what do both heads of layer 1 cost together, where both are induction
// heads? Ten models of letters that differ by their seed. Takes about 10 seconds.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "course/head_kinds.hpp"
#include "course/induction_runs.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

constexpr double induction = 0.3;  // from this score on, as step 74 counts heads

struct Ratios {  // what both cost together, over the sum of what each costs alone
  double ln_p, log_odds;
};

Ratios print_costs(const HeadStudy& s) {
  const Falls both = s.falls({{1, 0}, {1, 1}}), sum = s.summed_falls({{1, 0}, {1, 1}});
  const Ratios ratios = {both.again / sum.again, both.odds / sum.odds};
  std::printf("  %5.2f %5.2f %5.2f %5.1f   %5.2f %5.2f %5.2f %5.1f", s.fall_alone({1, 0}).again,
              s.fall_alone({1, 1}).again, both.again, ratios.ln_p, s.fall_alone({1, 0}).odds,
              s.fall_alone({1, 1}).odds, both.odds, ratios.log_odds);
  return ratios;
}

}  // namespace

int main() try {
  std::printf("Experiment 78_seeds: two layers of two heads, 10 seeds, 500 steps each\n");
  std::printf("Induction score of the heads of layer 1; what it costs to cut them\n\n");
  std::printf("        score          ln p, read again           log-odds\n");
  std::printf("seed   1.0  1.1    1.0   1.1  both ratio     1.0   1.1  both ratio\n");
  std::vector<Ratios> of_two;
  for (int seed = 0; seed < 10; ++seed) {
    const HeadStudy s = [&] {
      const Transformer model =
          train_on_repetitions({"", 2, 2, Positions::sinusoidal}, seed, 500).model;
      return HeadStudy(model, letter_readings(model));
    }();
    const auto score = [&](Index head) {
      return score_of(s.again_scores, HeadKind::induction, {1, head}, 0, s.rows()).mean;
    };
    std::printf("%4d  %.2f %.2f", seed, score(0), score(1));
    const Ratios ratios = print_costs(s);
    const bool two = std::min(score(0), score(1)) > induction;
    if (two) of_two.push_back(ratios);
    std::printf("%s\n", two ? "  two" : "");
  }
  const auto range = [&](double Ratios::* ratio) {
    const auto [least, most] = std::ranges::minmax(of_two, {}, ratio);
    std::printf("%.1f to %.1f", least.*ratio, most.*ratio);
  };
  std::printf("\nTwo induction heads (scores above %.1f): %zu of 10; ratio ", induction,
              of_two.size());
  range(&Ratios::ln_p);
  std::printf(" in ln p, ");
  range(&Ratios::log_odds);
  std::printf(" in log-odds\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
