// Step 51. How many heads does a trained model need?
//
// New here: pruning (course/pruning.hpp). Heads of trained models are set to 0, nothing is trained
// afterwards, and the quality that is left is measured. With 8 heads there are 2^8 choices of what
// to keep: all of them are tried, so that the best is known. Beside it four orders: by what each
// head costs when it alone is missing; by the gradient of the loss by a gate on each head (Michel
// et al. 2019); measuring the cost anew after each removal; and random order. At the end the mean
// of a head's output stands in place of 0.
// Reads the models of steps 23, 26 and 43; writes out/plots/phase5_pruning.png; takes about 10
// seconds.
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/pruning.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::pruning;

namespace {

constexpr Index rows = 150;

struct Named {
  std::string name;
  Subject subject;
};

std::vector<Named> subjects() {
  const auto read = [](const std::string& name) {
    return read_transformer("out/checkpoints/" + name + "_model.safetensors",
                            "steps 23, 26 and 43 train and save it. Type: make phase2 phase4");
  };
  Random random(51);
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  std::vector<Words> texts;
  for (Index i = 0; i < 4 * rows; ++i) texts.push_back(grammar.sentence(random).words);
  const Batch hidden = masked_lm_batch(vocabulary, texts, random);  // (600, 6)
  std::vector<Named> result = {
      {"hidden word", {read("multi_head"), hidden}},
      {"next word", {read("causal"), grammar.batch(vocabulary, rows, random)}}};
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const std::string name = to_string(kind);
    const TinyTask task(kind, {.longest = 6});
    result.push_back({name, {read(name), task.batch(Part::held_out, rows, random)}});
  }
  return result;
}

// Table 1, a line for each model.
void print_alone(const std::string& name, const std::vector<double>& qualities) {
  std::printf("%-11s %5.2f  %5.2f  ", name.c_str(), qualities.back(), qualities[0]);
  const std::size_t all = qualities.size() - 1;
  for (std::size_t head = 1; head <= all; head <<= 1) {
    std::printf("%s %.2f", head == 16 ? "  " : "", qualities[all - head]);
  }
  std::printf("\n");
}

void print_orders(const std::vector<Named>& list, const std::vector<Curves>& results) {
  std::printf(
      "\n2. The fewest heads that keep 95 %% of that; and what half of the heads keep of it\n");
  std::printf("              best of all  meas. anew  cost alone    gradient      random\n");
  std::size_t heads = 0, kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Curves& c = results[i];
    const std::size_t all = c.best.size() - 1;
    std::printf("%-11s %zu of", list[i].name.c_str(), all);
    for (const auto* curve : {&c.best, &c.anew, &c.cost_alone, &c.gradient, &c.random}) {
      std::printf("%5zu %4.0f %%", needed(*curve), 100 * (*curve)[all / 2] / curve->back());
    }
    std::printf("\n");
    heads += all;
    kept += needed(c.best);
  }
  std::printf("\nANSWER: %zu of %zu heads are enough, if the right ones are kept", kept, heads);
}

plot::LineChart chart(const std::string& name, const Curves& c) {
  plot::LineChart result;
  result.title = name;
  result.x_axis.name = "heads left";
  result.y_axis = {.name = "probability of the right word", .low = 0};
  if (c.best.back() > 0.5) result.y_axis.high = 1;
  // Each curve stands a little beside the one before it, so that none hides another.
  const auto add = [&](const std::vector<double>& curve, bool line, bool markers, bool dashed) {
    std::vector<double> left;
    const double beside = 0.08 * static_cast<double>(result.series.size());
    for (std::size_t i = 0; i < curve.size(); ++i) left.push_back(static_cast<double>(i) + beside);
    result.series.push_back({"", left, curve, line, markers, dashed});
  };
  add(c.best, true, false, false);
  add(c.anew, false, true, false);
  add(c.cost_alone, true, true, false);
  add(c.random, true, false, true);
  result.reference_lines = {{enough * c.best.back(), ""}};
  return result;
}

void draw(const std::vector<Named>& list, const std::vector<Curves>& results) {
  plot::Canvas canvas(1240, 820);
  canvas.text({24, 36}, "How many heads can go?", {.size = 20, .bold = true});
  const std::vector<std::string> names = {"best choice of all (line)", "measured anew (dots)",
                                          "by cost alone (line and dots)", "random order (dashes)",
                                          "95 % of the whole (grey)"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const plot::Colour colour = i < 4 ? plot::series_colour(i) : plot::theme::accent;
    canvas.text({24 + 245 * static_cast<double>(i), 62}, names[i], {.size = 14, .colour = colour});
  }
  const plot::Rect rest = {16, 80, canvas.width() - 32, canvas.height() - 96};
  const std::vector<plot::Rect> areas = plot::panels(rest, 2, 3);
  for (std::size_t i = 0; i < list.size(); ++i) {
    plot::draw(canvas, areas[i], chart(list[i].name, results[i]));
  }
  plot::write_png(canvas, "out/plots/phase5_pruning.png");
}

}  // namespace

int main() try {
  std::printf("Step 51: pruning (takes about 10 seconds)\n\n");
  const std::vector<Named> list = subjects();
  std::vector<Curves> results;
  std::printf("1. Mean probability of the right word, when one head alone is missing\n");
  std::printf("                   no     layer 0: head        layer 1: head\n");
  std::printf("model       whole  head    0    1    2    3       0    1    2    3\n");
  int free = 0, free_by_mean = 0;
  std::size_t needed_by_mean = 0;
  for (const auto& [name, subject] : list) {
    const std::vector<double> qualities = all_qualities(subject),
                              by_mean = all_qualities(subject, Replacement::mean),
                              importance = gate_gradients(subject);
    print_alone(name, qualities);
    results.push_back(curves(qualities, importance));
    free += std::popcount(not_missed(subject));
    free_by_mean += std::popcount(not_missed(subject, Replacement::mean));
    needed_by_mean += needed(curves(by_mean, importance).best);
  }
  print_orders(list, results);
  std::printf(";\n%d heads are not missed (95 %% is kept) when they alone are removed.\n", free);
  std::printf("With a head's mean at each position in place of 0: %zu are enough, %d not missed.\n",
              needed_by_mean, free_by_mean);
  draw(list, results);
  std::printf("\nwrote out/plots/phase5_pruning.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
