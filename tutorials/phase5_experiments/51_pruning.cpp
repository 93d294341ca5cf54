// Step 51. How many heads does a trained model need?
//
// New here: pruning. Heads of trained models are set to 0, nothing is trained afterwards, and the
// quality that is left is measured. With 8 heads there are 2^8 choices of what to keep: all of them
// are tried, so that the best is known. Beside it four orders: by what each head costs when it
// alone is missing; by the gradient of the loss by a gate on each head (Michel et al. 2019);
// measuring the cost anew after each removal; and random order. At the end the mean of a head's
// output stands in place of 0.
// Reads the models of steps 23, 26 and 43; writes out/plots/phase5_pruning.png; takes about 10
// seconds.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index rows = 150;
constexpr double enough = 0.95;  // a pruned model keeps the quality with so much of the whole one's
using Heads = unsigned;          // a set of heads: bit i is head i, those of layer 0 first

struct Subject {
  std::string name;
  Transformer model;
  Batch test;
};

std::vector<Subject> subjects() {
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
  std::vector<Subject> result = {
      {"hidden word", read("multi_head"), hidden},
      {"next word", read("causal"), grammar.batch(vocabulary, rows, random)}};
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const std::string name = to_string(kind);
    const TinyTask task(kind, {.longest = 6});
    result.push_back({name, read(name), task.batch(Part::held_out, rows, random)});
  }
  return result;
}

// The mean probability that the model gives to the right word, with some of its heads alone.
double quality(const Subject& subject, Heads kept, Replacement by) {
  Capture reach;
  const Index heads = subject.model.options.num_heads;
  for (Index layer = 0; layer < subject.model.options.num_layers; ++layer) {
    Tensor keep = Tensor::zeros({heads, 1, 1});  // (heads, 1, 1)
    for (Index h = 0; h < heads; ++h) keep.set({h, 0, 0}, kept >> (layer * heads + h) & 1U);
    reach.replace("blocks." + std::to_string(layer) + ".attention.heads",
                  [&subject, keep, by](const Tensor& said) {  // (..., heads, length, d_k)
                    if (by == Replacement::zero) return said * keep;
                    return said * keep + usual_output(said, subject.test) * (1.0 - keep);
                  });
  }
  const Tensor logits = subject.model(subject.test.inputs);  // (texts, length, vocabulary)
  const std::vector<real> said = softmax(logits).values();
  const std::vector<std::int32_t>& right = subject.test.targets.values;
  const auto words = static_cast<std::size_t>(logits.size(-1));
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i] < 0) continue;
    sum += double{said[i * words + static_cast<std::size_t>(right[i])]};
    count += 1;
  }
  return sum / count;
}

// Of every set of heads.
std::vector<double> all_qualities(const Subject& subject, Replacement by = Replacement::zero) {
  const Index heads = subject.model.options.num_heads * subject.model.options.num_layers;
  std::vector<double> result;
  for (Heads kept = 0; kept < 1U << heads; ++kept) result.push_back(quality(subject, kept, by));
  return result;
}

// The importance of each head by Michel et al. (2019): its output is multiplied by a gate of 1, and
// the size of d loss / d gate is averaged over texts.
std::vector<double> gate_gradients(const Subject& subject) {
  const Index heads = subject.model.options.num_heads, texts = subject.test.inputs.shape[0];
  std::vector<Tensor> gates;  // of each layer
  Capture reach;
  for (Index layer = 0; layer < subject.model.options.num_layers; ++layer) {
    const Tensor gate = Tensor::ones({texts, heads, 1, 1});  // (texts, heads, 1, 1)
    gates.push_back(gate);
    reach.replace(
        "blocks." + std::to_string(layer) + ".attention.heads",
        [gate](const Tensor& said) { return said * gate; });  // (texts, heads, length, d_k)
  }
  Tape tape(gates);
  const Tensor logits = subject.model(subject.test.inputs);  // (texts, length, vocabulary)
  const Gradients gradients = tape.backward(cross_entropy(logits, subject.test.targets));
  std::vector<double> result;
  for (const Tensor& gate : gates) {
    const Tensor size = abs(gradients[gate]);  // (texts, heads, 1, 1)
    for (const real one : mean(size, {0, 2, 3}).values()) result.push_back(double{one});
  }
  return result;
}

// Quality by the number of heads that are left, from 0 to all.
struct Curves {
  std::vector<double> cost_alone, gradient, anew, best, random;
};

// The head of `kept` that is missed least where `from` were present.
Heads cheapest(const std::vector<double>& qualities, Heads kept, Heads from) {
  Heads found = 0;
  for (Heads head = 1; head <= kept; head <<= 1) {
    if (!(kept & head)) continue;
    if (!found || qualities[from - head] > qualities[from - found]) found = head;
  }
  return found;
}

// The head of `kept` with the least importance.
Heads least(const std::vector<double>& importance, Heads kept) {
  std::size_t found = importance.size();
  for (std::size_t h = 0; h < importance.size(); ++h) {
    if (!(kept >> h & 1U)) continue;
    if (found == importance.size() || importance[h] < importance[found]) found = h;
  }
  return kept == 0 ? 0 : 1U << found;
}

// qualities has every set of heads. The mean over all random orders is that over all sets of a
// size, for every one of them comes up equally often.
Curves curves(const std::vector<double>& qualities, const std::vector<double>& importance) {
  const auto all = static_cast<Heads>(qualities.size() - 1);
  const auto sizes = static_cast<std::size_t>(std::popcount(all)) + 1;
  std::vector<double> by_cost(sizes), by_gradient(sizes), anew(sizes), best(sizes), random(sizes),
      count(sizes);
  for (Heads kept = 0; kept <= all; ++kept) {
    const auto left = static_cast<std::size_t>(std::popcount(kept));
    best[left] = std::max(best[left], qualities[kept]);
    random[left] += qualities[kept];
    count[left] += 1;
  }
  for (std::size_t left = 0; left < sizes; ++left) random[left] /= count[left];
  Heads one = all, two = all, three = all;  // what the three orders keep
  for (std::size_t left = sizes; left-- > 0;) {
    by_cost[left] = qualities[one];
    by_gradient[left] = qualities[two];
    anew[left] = qualities[three];
    one -= cheapest(qualities, one, all);
    two -= least(importance, two);
    three -= cheapest(qualities, three, three);
  }
  return {by_cost, by_gradient, anew, best, random};
}

// The fewest heads that keep the quality, going down from all of them.
std::size_t needed(const std::vector<double>& curve) {
  std::size_t left = curve.size() - 1;
  while (left > 0 && curve[left - 1] >= enough * curve.back()) --left;
  return left;
}

// How many heads are not missed when they alone are gone.
int not_missed(const std::vector<double>& qualities) {
  const std::size_t all = qualities.size() - 1;
  int free = 0;
  for (std::size_t head = 1; head <= all; head <<= 1) {
    free += qualities[all - head] >= enough * qualities[all];
  }
  return free;
}

// Table 1, a line for each model.
void print_alone(const Subject& subject, const std::vector<double>& qualities) {
  std::printf("%-11s %5.2f  %5.2f  ", subject.name.c_str(), qualities.back(), qualities[0]);
  const std::size_t all = qualities.size() - 1;
  for (std::size_t head = 1; head <= all; head <<= 1) {
    std::printf("%s %.2f", head == 16 ? "  " : "", qualities[all - head]);
  }
  std::printf("\n");
}

void print_orders(const std::vector<Subject>& list, const std::vector<Curves>& results) {
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

void draw(const std::vector<Subject>& list, const std::vector<Curves>& results) {
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
  const std::vector<Subject> list = subjects();
  std::vector<Curves> results;
  std::printf("1. Mean probability of the right word, when one head alone is missing\n");
  std::printf("                   no     layer 0: head        layer 1: head\n");
  std::printf("model       whole  head    0    1    2    3       0    1    2    3\n");
  int free = 0, free_by_mean = 0;
  std::size_t needed_by_mean = 0;
  for (const Subject& subject : list) {
    const std::vector<double> qualities = all_qualities(subject),
                              by_mean = all_qualities(subject, Replacement::mean),
                              importance = gate_gradients(subject);
    print_alone(subject, qualities);
    results.push_back(curves(qualities, importance));
    free += not_missed(qualities), free_by_mean += not_missed(by_mean);
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
