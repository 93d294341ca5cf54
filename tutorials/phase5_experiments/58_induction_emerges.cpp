// Step 58. Does a model learn all at once to continue repetitions?
//
// New here: a model is watched while it learns (course/induction_runs.hpp). It reads letters that
// repeat: "k a t k a" continues with "t". Every ten steps its loss is measured on repetitions it
// was not trained on, and the scores of its best heads: weight on the previous letter (layer 0),
// and on the letter that stood behind the same letter before (induction). Several seeds; as
// controls one layer, and learned positions. Many more seeds are in experiments/58_positions.cpp.
// Writes out/plots/phase5_induction.png; takes about 9 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "course/induction_pictures.hpp"
#include "course/induction_runs.hpp"
#include "course/inside.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int letters = 26, steps = 500, every = 10;
constexpr double formed_from = 0.3;  // the induction score from which a run has such a head

struct Group {
  InductionSetting setting;
  int seeds;
};
const std::vector<Group> groups = {{{"two layers, one head", 2, 1, Positions::sinusoidal}, 5},
                                   {{"two layers, two heads", 2, 2, Positions::sinusoidal}, 5},
                                   {{"one layer, two heads", 1, 2, Positions::sinusoidal}, 2},
                                   {{"learned positions", 2, 2, Positions::learned}, 3}};

bool formed(const InductionRun& run) { return run.best_induction().back() >= formed_from; }

// Where a curve changes most within 50 steps, after the first 50, in which every model learns which
// letters there are: the step in the middle, and how far it goes there.
struct Jump {
  double step = 0, size = 0;
};
Jump jump(const std::vector<double>& curve) {
  Jump result;
  for (std::size_t i = 5; i + 5 < curve.size(); ++i) {
    const double size = std::abs(curve[i + 5] - curve[i]);
    if (size > result.size)
      result = {static_cast<double>(every) * (static_cast<double>(i) + 2.5), size};
  }
  return result;
}

// The step from which on a score has made this part of its way from its first to its last value.
double crossing(const std::vector<double>& curve, double part) {
  const double mark = curve.front() + part * (curve.back() - curve.front());
  std::size_t i = curve.size() - 1;
  while (i > 0 && curve[i - 1] >= mark) --i;
  return every * static_cast<double>(i);
}

// The loss of saying the letters of the piece as often as they stand in it, on the 60 texts of the
// test: of knowing them, but not their order. The piece stands behind <bos>; the first target is
// the second letter of its repetition.
double loss_without_order() {
  const Batch& test = repetition_test();
  const Index length = test.inputs.shape[1];
  double loss = 0, asked = 0;
  for (Index row = 0; row < test.inputs.shape[0]; ++row) {
    const auto target = test.targets.values.begin() + row * length;
    const auto first = std::find_if(target, target + length, [](auto t) { return t >= 0; });
    const auto piece = test.inputs.values.begin() + row * length + 1;
    const Index size = first - target - 1;
    for (auto t = first; t != target + length && *t >= 0; ++t) {
      const auto same = static_cast<double>(std::count(piece, piece + size, *t));
      loss -= std::log(same / static_cast<double>(size));
      asked += 1;
    }
  }
  return loss / asked;
}

void print_runs(const std::vector<InductionRun>& runs) {
  std::printf("1. After %d steps; the 50 steps, after the first 50, in which the loss fell most\n",
              steps);
  std::printf("                        loss  previous  induction   fell most at   by\n");
  for (const InductionRun& run : runs) {
    const Jump fall = jump(run.loss);
    std::printf("%-22s %5.2f %9.2f %10.2f %14.0f %4.1f  %s\n", run.setting.name.c_str(),
                run.loss.back(), run.best_previous().back(), run.best_induction().back(), fall.step,
                fall.size, formed(run) ? "induction" : "");
  }
  double untrained = 0;
  for (const InductionRun& run : runs)
    untrained = std::max(untrained, run.best_induction().front());
  std::printf("guessing: loss ln 26 = %.2f; induction of untrained models: at most %.2f\n",
              std::log(letters), untrained);
  std::printf("the letters of the piece, as often as they stand in it: loss %.2f\n",
              loss_without_order());
}

void print_order(const std::vector<InductionRun>& runs) {
  std::printf("\n2. What came when, in the runs with an induction head (steps)\n");
  std::printf("                       most within 50 steps    25 %%, 50 %%, 75 %% of the way\n");
  std::printf("                       loss falls  ind. rises  induction    previous\n");
  double apart = 0, count = 0;
  for (const InductionRun& run : runs) {
    if (!formed(run)) continue;
    const std::vector<double> induction = run.best_induction(), previous = run.best_previous();
    const double fall = jump(run.loss).step, rise = jump(induction).step;
    std::printf("%-22s %10.0f %11.0f  %3.0f %3.0f %3.0f  %3.0f %3.0f %3.0f\n",
                run.setting.name.c_str(), fall, rise, crossing(induction, 0.25),
                crossing(induction, 0.5), crossing(induction, 0.75), crossing(previous, 0.25),
                crossing(previous, 0.5), crossing(previous, 0.75));
    apart += std::abs(fall - rise);
    ++count;
  }
  std::printf("mean: %.0f steps between the fall of the loss and the rise of induction\n",
              apart / count);
}

// One head cut at a time, and both heads of a layer: zeros in place of what they write, or its mean
// at each position.
void print_cuts(const std::vector<InductionRun>& runs) {
  std::printf(
      "\n3. Loss when heads are cut, runs with an induction head and two heads per layer\n");
  std::printf("                 layer 0: best      the          layer 1: best      the\n");
  std::printf("nothing  instead      previous    other    both      induction    other    both\n");
  for (const InductionRun& run : runs) {
    if (!formed(run) || run.setting.heads != 2) continue;
    const Tensor &previous = run.previous.back(), &induction = run.induction.back();  // (heads)
    const Index p = previous.at({1}) > previous.at({0}), i = induction.at({1}) > induction.at({0});
    for (const Replacement by : {Replacement::zero, Replacement::mean}) {
      const auto loss = [&](const std::vector<HeadOf>& cut) {
        return -said_without(run.model, repetition_test(), cut, by).log_probability;
      };
      const bool zeros = by == Replacement::zero;
      std::printf("%7s  %-7s %14.2f %8.2f %7.2f %14.2f %8.2f %7.2f%s\n",
                  zeros ? formatted("%.2f", run.loss.back()).c_str() : "", zeros ? "zeros" : "mean",
                  loss({{0, p}}), loss({{0, 1 - p}}), loss({{0, 0}, {0, 1}}), loss({{1, i}}),
                  loss({{1, 1 - i}}), loss({{1, 0}, {1, 1}}),
                  zeros && run.setting.positions == Positions::learned ? "  learned" : "");
    }
  }
}

std::vector<InductionKind> by_kind(const std::vector<InductionRun>& runs) {
  std::vector<InductionKind> kinds = {{"two layers, sinusoids, formed", {}},
                                      {"two layers, sinusoids, not formed", {}},
                                      {"two layers, learned positions", {}},
                                      {"one layer, sinusoids", {}}};
  for (const InductionRun& run : runs) {
    std::size_t kind = formed(run) ? 0 : 1;
    if (run.setting.positions == Positions::learned) kind = 2;
    if (run.setting.layers == 1) kind = 3;
    kinds[kind].runs.push_back(run);
  }
  return kinds;
}

void print_answer(const std::vector<InductionKind>& kinds) {
  std::printf("\n4. Answer                         runs  with induction  mean loss\n");
  for (const auto& [name, runs] : kinds) {
    double total = 0;
    for (const InductionRun& run : runs) total += run.loss.back();
    std::printf("%-33s %4zu %15td %10.2f\n", name.c_str(), runs.size(),
                std::ranges::count_if(runs, formed), total / static_cast<double>(runs.size()));
  }
}

}  // namespace

int main() try {
  std::printf("Step 58: induction emerges (takes about 9 seconds)\n\n");
  std::vector<InductionRun> runs;
  for (const auto& [setting, seeds] : groups) {
    for (int seed = 0; seed < seeds; ++seed) {
      runs.push_back(train_on_repetitions(setting, seed, steps));
    }
  }
  print_runs(runs);
  print_order(runs);
  print_cuts(runs);
  const std::vector<InductionKind> kinds = by_kind(runs);
  print_answer(kinds);
  plot::write_png(induction_picture(kinds, std::log(letters)), "out/plots/phase5_induction.png");
  std::printf("\nwrote out/plots/phase5_induction.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
