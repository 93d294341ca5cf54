// Step 68. How much of a sentence fits into one vector?
//
// New here: a recurrent network (LSTM), its step written out; one reads a sentence, another one
// writes its translation (course/lstm_translator.hpp). Once it gets only the state after the last
// word, once attention over the states after every word: the same weights, the same training, the
// same sentences.
// Writes out/plots/phase6_bottleneck.png; takes about 15 seconds.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/lstm_translator.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr Index fewest = 2, most = 5, most_tested = 7;  // noun phrases of a sentence

// One step of an LSTM, written out: x W_x + b + h W_h, cut into four.
LstmState lstm_step(const LstmCell& cell, const Tensor& x, const LstmState& before) {
  const std::vector<Tensor> gates =  // (batch, hidden) each
      split(matmul(x, cell.input.weight) + cell.input.bias + matmul(before.h, cell.hidden.weight),
            4, -1);
  const Tensor write = sigmoid(gates[0]), keep = sigmoid(gates[1]), show = sigmoid(gates[3]);
  const Tensor c = keep * before.c + write * tanh(gates[2]);  // (batch, hidden)
  return {show * tanh(c), c};
}

void check_step() {
  Random random(1);
  const LstmCell cell(3, 5, random);
  const Tensor x = random.normal({2, 3});  // (2, 3)
  const LstmState before{random.normal({2, 5}), random.normal({2, 5})};
  const double error = largest_difference(lstm_step(cell, x, before).h, cell(x, before).h);
  std::printf("1. A step of an LSTM written out and LstmCell differ by %s\n\n",
              error < 1e-6 ? "less than 1e-6" : "TOO MUCH");
}

struct Variant {
  const char* name;
  LstmTranslatorOptions options;
  std::uint64_t seeds;
};

const std::vector<Variant> variants = {{"attention", {}, 3},
                                       {"last state", {.visibility = Visibility::last_state}, 3},
                                       {"no source", {.visibility = Visibility::nothing}, 1}};

struct Score {              // with held-out sentences of some length
  double sentences, words;  // share of sentences wholly right, and of words
};

Score evaluate(const LstmTranslator& model, Index phrases) {
  Random random(77);
  const TranslationBatch b = TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
  const Tensor logits = model(b).logits;  // (300, target, words)
  return {double(exact_matches(logits, b.target.targets)) / 300,
          accuracy(logits, b.target.targets)};
}

struct Run {  // one model, trained
  std::size_t variant;
  std::uint64_t seed;
  std::vector<Score> scores;  // of 2, 3, ... noun phrases
};

std::vector<Run> train_all() {
  const TranslationTask task({fewest, most});
  std::vector<Run> runs;
  Progress progress("training", 7, "models");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (std::uint64_t seed = 1; seed <= variants[i].seeds; ++seed, progress.step()) {
      runs.push_back({i, seed, {}});
      const LstmTranslator model = learn(variants[i].options, task, seed);
      for (Index phrases = fewest; phrases <= most_tested; ++phrases) {
        runs.back().scores.push_back(evaluate(model, phrases));
      }
    }
  }
  return runs;
}

void print_lengths(const std::vector<Run>& runs, const char* title, double Score::* share) {
  std::printf("%s\n%-22s", title, "noun phrases");
  for (Index phrases = fewest; phrases <= most_tested; ++phrases) std::printf("%6d", int(phrases));
  for (const Run& run : runs) {
    std::printf("\n%-17s %d   ", variants[run.variant].name, int(run.seed));
    for (const Score& score : run.scores) std::printf(" %5.3f", score.*share);
  }
  std::printf("\n\n");
}

// The mean over seeds as lines, each seed as a point, over the mean number of source words.
plot::LineChart length_chart(const std::vector<Run>& runs, const char* title,
                             double Score::* share) {
  plot::LineChart chart;
  chart.title = title;
  chart.subtitle = "500 steps, states of 48 numbers; lines: means, points: seeds";
  chart.x_axis = {"words of the source, mean for 2 to 7 noun phrases"};
  chart.y_axis = {"share right", false, 0, 1};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    plot::Series line{variants[i].name, {}, std::vector<double>(most_tested - fewest + 1)};
    for (Index p = fewest; p <= most_tested; ++p) line.x.push_back(2.5 * double(p) - 1);
    line.colour = plot::series_colour(i);
    for (const Run& run : runs) {
      if (run.variant != i) continue;
      plot::Series points{"", line.x, {}, false, true, false, line.colour};
      for (std::size_t k = 0; k < run.scores.size(); ++k) {
        points.y.push_back(run.scores[k].*share);
        line.y[k] += run.scores[k].*share / double(variants[i].seeds);
      }
      chart.series.push_back(points);
    }
    chart.series.push_back(line);
  }
  plot::Series border{"right of it: longer than in training", {12.75, 12.75}, {0, 1}};
  border.dashed = true, border.colour = plot::theme::frame;
  chart.series.push_back(border);
  return chart;
}

}  // namespace

int main() try {
  std::printf("Step 68: the bottleneck (takes about 15 seconds)\n\n");
  check_step();
  const std::vector<Run> runs = train_all();
  print_lengths(runs, "2. Wholly right, of 300 held-out sentences of each length",
                &Score::sentences);
  print_lengths(runs, "3. Words right, given the right words before", &Score::words);
  plot::Canvas canvas(1360, 480, 1.5);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], length_chart(runs, "Sentences wholly right", &Score::sentences));
  plot::draw(canvas, panels[1],
             length_chart(runs, "Words right, given the right words before", &Score::words));
  plot::write_png(canvas, "out/plots/phase6_bottleneck.png");
  std::printf("wrote out/plots/phase6_bottleneck.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
