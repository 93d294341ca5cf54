// An experiment for step 58: how often does an induction head form, and what do positions have to
// do with it? More seeds, twice the steps, and two controls: learned positions that begin as
// sinusoids, and such that begin as noise of the same size. And which comes first, the score of the
// induction head or that of the previous-letter head: at three marks (25, 50 and 75 % of the way to
// the last value; a crossing counts once it lasts). Then other learning rates. Takes about 6
// minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/induction_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

using namespace tapestry;

namespace {

constexpr Index steps = 1000;

struct Group {
  InductionSetting setting;
  int seeds;
};
const std::vector<Group> groups = {
    {{"sinusoids, two heads", 2, 2, Positions::sinusoidal}, 16},
    {{"sinusoids, one head", 2, 1, Positions::sinusoidal}, 16},
    {{"learned", 2, 2, Positions::learned}, 24},
    {{"learned from sinusoids", 2, 2, Positions::learned, FirstPositions::sinusoids}, 12},
    {{"learned from large noise", 2, 2, Positions::learned, FirstPositions::large_noise}, 12},
    {{"sinusoids, one layer", 1, 2, Positions::sinusoidal}, 6}};

// A run at one of its moments.
struct Moment {
  double loss, previous, induction;
};

Moment at(const InductionRun& run, Index step) {
  const auto i = static_cast<std::size_t>(step / 10);
  return {run.loss[i], run.best_previous()[i], run.best_induction()[i]};
}

int count(const std::vector<Moment>& moments, double formed_from) {
  return static_cast<int>(std::count_if(moments.begin(), moments.end(), [&](const Moment& moment) {
    return moment.induction >= formed_from;
  }));
}

// The 95 % interval of a share, of which `formed` of `runs` were seen (Wilson 1927).
std::string interval(int formed, std::size_t runs) {
  const double n = static_cast<double>(runs), p = formed / n, z = 1.96;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return formatted("%.2f to %.2f", middle - half, middle + half);
}

void print(const std::string& name, Index step, const std::vector<Moment>& moments) {
  double with = 0, without = 0;
  const int formed = count(moments, 0.3);
  for (const Moment& moment : moments) (moment.induction >= 0.3 ? with : without) += moment.loss;
  const int others = static_cast<int>(moments.size()) - formed;
  std::printf("%-25s %5lld   %2d of %-2zu  %s   %2d   %2d", name.c_str(),
              static_cast<long long>(step), formed, moments.size(),
              interval(formed, moments.size()).c_str(), count(moments, 0.2), count(moments, 0.5));
  if (formed > 0)
    std::printf("%9.2f", with / formed);
  else
    std::printf("%9s", "-");
  if (others > 0)
    std::printf("%9.2f\n", without / others);
  else
    std::printf("%9s\n", "-");
}

// Of all runs at their last step: the highest loss with an induction head, the lowest without.
struct Bounds {
  double with = 0, without = 10;

  void add(const std::vector<Moment>& moments) {
    for (const Moment& m : moments) {
      if (m.induction >= 0.3)
        with = std::max(with, m.loss);
      else
        without = std::min(without, m.loss);
    }
  }
};

// Does the learning rate decide it? 12 seeds of each kind.
void print_rates() {
  constexpr std::array rates = {1e-3, 2e-3, 5e-3, 1e-2};
  constexpr int seeds = 12;
  std::printf("\nBy learning rate: formed after %lld steps, of %d; their mean loss\n",
              static_cast<long long>(steps), seeds);
  std::printf("positions              ");
  for (const double rate : rates) std::printf("%12g", rate);
  std::printf("\n");
  for (const Group& group : groups) {
    std::printf("%-25s", group.setting.name.c_str());
    for (const double rate : rates) {
      std::vector<Moment> last;
      double loss = 0;
      for (int seed = 0; seed < seeds; ++seed) {
        last.push_back(at(train_on_repetitions(group.setting, seed, steps, rate), steps));
        loss += last.back().loss;
      }
      std::printf("   %3d %5.2f", count(last, 0.3), loss / seeds);
    }
    std::printf("\n");
  }
}

// The step from which on a score has made this part of its way.
double crossing(const std::vector<double>& scores, Index last, double part) {
  std::size_t i = static_cast<std::size_t>(last / 10);
  const double mark = scores.front() + part * (scores[i] - scores.front());
  while (i > 0 && scores[i - 1] >= mark) --i;
  return 10 * static_cast<double>(i);
}

// How many steps later the previous-letter score makes each part of its way than the induction
// score does, in the runs with an induction head.
void print_order(const std::vector<InductionRun>& runs, Index last) {
  std::printf("\n%lld steps: previous-letter score later than the induction score\n",
              static_cast<long long>(last));
  for (const double part : {0.25, 0.5, 0.75}) {
    double sum = 0, squares = 0, count = 0, later = 0, earlier = 0;
    for (const InductionRun& run : runs) {
      if (at(run, last).induction < 0.3) continue;
      const double by =
          crossing(run.best_previous(), last, part) - crossing(run.best_induction(), last, part);
      sum += by;
      squares += by * by;
      ++count;
      later += by > 0;
      earlier += by < 0;
    }
    const double mean = sum / count, deviation = std::sqrt((squares - sum * mean) / (count - 1));
    std::printf(
        "%2.0f %% of the way: in %2.0f of %2.0f runs (earlier in %2.0f), by %4.0f +- %.0f steps\n",
        100 * part, later, count, earlier, mean, deviation);
  }
}

}  // namespace

int main() try {
  std::printf("Experiment: how often an induction head forms (takes about 6 minutes)\n\n");
  std::printf(
      "formed: a head of the last layer has an induction score of 0.3 or more; beside it\n");
  std::printf("how many there are with 0.2 and with 0.5 instead\n\n");
  std::printf("positions                 steps    formed  95 %% interval  0.2  0.5   loss with, ");
  std::printf("without\n");
  Bounds early, late;
  std::vector<InductionRun> runs;  // with sinusoids, two layers
  for (const auto& [setting, seeds] : groups) {
    std::vector<Moment> half, whole;
    for (int seed = 0; seed < seeds; ++seed) {
      const InductionRun run = train_on_repetitions(setting, seed, steps);
      half.push_back(at(run, steps / 2));
      whole.push_back(at(run, steps));
      if (setting.positions == Positions::sinusoidal && setting.layers == 2) runs.push_back(run);
    }
    print(setting.name, steps / 2, half);
    print("", steps, whole);
    early.add(half);
    late.add(whole);
  }
  std::printf(
      "\nAfter %4d steps: loss with an induction head at most %.2f, without at least %.2f\n",
      static_cast<int>(steps / 2), early.with, early.without);
  std::printf("After %4d steps: loss with an induction head at most %.2f, without at least %.2f\n",
              static_cast<int>(steps), late.with, late.without);
  print_order(runs, steps / 2);
  print_order(runs, steps);
  print_rates();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
