// Step 68. How much of a sentence fits into one vector?
//
// New here: a recurrent network (LSTM) reads a sentence, another one writes its translation. Once
// it gets only the state after the last word, once attention over the states after every word: the
// same weights, the same training, the same sentences. Then: does the attention know which word
// each word comes from?
// Writes out/plots/phase6_bottleneck.png and phase6_alignment.png; takes about 20 seconds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/translation.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/lstm.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 32, rows = 32;
constexpr Index fewest = 2, most = 5, most_tested = 7;  // noun phrases of a sentence

enum class Sight { nothing, last_state, all_states };

struct Variant {
  const char* name;
  Sight sight;
  Index hidden;        // how many numbers a state has
  bool attended_only;  // the output layer sees the attention's output without the decoder's state
  Index steps;
  std::uint64_t seeds;
};

const std::vector<Variant> variants = {
    {"attention", Sight::all_states, 48, false, 500, 3},
    {"last state", Sight::last_state, 48, false, 500, 3},
    {"last, doubled", Sight::last_state, 96, false, 1000, 1},
    {"no source", Sight::nothing, 48, false, 500, 1},
    {"attended only", Sight::all_states, 48, true, 500, 2},
};

struct Translator : Module {
  Sight sight;
  bool attended_only;
  Embedding source_words, target_words;
  Lstm encoder, decoder;
  MultiHeadAttention attention;  // one head
  Linear join, out;

  Translator(const Variant& v, const TranslationTask& task, Random& random)
      : sight(v.sight),
        attended_only(v.attended_only),
        source_words(task.source_words().size(), width, random, init::lecun_normal),
        target_words(task.target_words().size(), width, random, init::lecun_normal),
        encoder(width, v.hidden, random),
        decoder(width, v.hidden, random),
        attention(v.hidden, 1, random, {.initializer = init::xavier_uniform}),
        join((attended_only ? 1 : 2) * v.hidden, v.hidden, random,
             {.initializer = init::xavier_uniform}),
        out(v.hidden, task.target_words().size(), random, {.initializer = init::xavier_uniform}) {}

  // -> logits (rows, length of the target, words)
  Tensor operator()(const TranslationBatch& b, const ForwardContext& pass = {}) const {
    const Lstm::Output read = encoder(source_words(b.source), b.source_lengths);
    const bool starts = sight != Sight::nothing;
    const Tensor states =  // (batch, target, hidden)
        decoder(target_words(b.target.inputs), {}, starts ? read.last : LstmState{}).all;
    // The bottleneck is attention over one thing.
    const bool all = sight == Sight::all_states;
    const Tensor seen = all ? read.all : unsqueeze(read.last.h, 1);  // (rows, keys, hidden)
    const Mask mask = all ? Mask::padding(b.source_lengths) : Mask();
    Tensor brought = attention.cross_attend(states, seen, mask, pass);  // (batch, target, hidden)
    if (!starts) brought = Tensor::zeros(brought.shape());
    return out(tanh(join(attended_only ? brought : concat({states, brought}, -1))));
  }

  Members members() const override {
    return {{"source", source_words},
            {"target", target_words},
            {"encoder", encoder},
            {"decoder", decoder},
            {"attention", attention},
            {"join", join},
            {"out", out}};
  }
};

Translator learn(const Variant& variant, const TranslationTask& task, std::uint64_t seed) {
  Random random(seed);
  Translator model(variant, task, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = variant.steps};
  options.what = "";
  options.learning_rate = [&](Index step) {
    return cosine_schedule(
        step, {.peak = 1e-2, .floor = 2e-4, .warmup_steps = 20, .steps = variant.steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const TranslationBatch b = task.batch(Part::train, rows, drawn);
    return cross_entropy(model(b), b.target.targets);  // logits (rows, target, words)
  };
  train(adam, loss_of_step, options);
  return model;
}
// What a model does with held-out sentences of some length.
struct Score {
  double sentences, words;         // share of sentences wholly right, and of words
  double aligned, next, agreeing;  // mean weight on the source word that is translated, ...
  double top;                      // how often the aligned word has the greatest weight
  double even;                     // what even weights would give it
};

Score evaluate(const Translator& model, Index phrases) {
  Random random(77);
  const TranslationBatch b = TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
  const Capture seen;
  const Tensor logits = model(b, {.need_weights = true});  // (300, target, words)
  Score score{double(exact_matches(logits, b.target.targets)) / 300,
              accuracy(logits, b.target.targets),
              0,
              0,
              0,
              0,
              0};
  if (model.sight != Sight::all_states) return score;
  const Tensor weights = squeeze(seen["weights"], 1);  // (rows, target, source)
  const Index keys = weights.size(2);
  const auto mean_on = [](const Tensor& w, const Tensor& marked) {
    return double{sum(w * marked).item()} / double{sum(marked).item()};
  };
  score.aligned = mean_on(weights, b.from);
  score.next = mean_on(slice(weights, 2, 1, keys), slice(b.from, 2, 0, keys - 1));
  score.agreeing = mean_on(weights, b.ends_as);
  const std::vector<double> on = doubles(sum(weights * b.from, -1));  // (300, target)
  const std::vector<double> greatest = doubles(max(weights, -1));     // (300, target)
  for (std::size_t i = 0; i < on.size(); ++i) score.top += on[i] == greatest[i] ? 1 : 0;
  score.top /= double{sum(b.from).item()};
  score.even = 300 / double{sum(b.from).item()};
  return score;
}

struct Run {  // one model, trained
  std::size_t variant;
  std::uint64_t seed;
  Translator model;
  std::vector<Score> scores;  // of 2, 3, ... noun phrases
};

std::vector<Run> train_all() {
  const TranslationTask task({fewest, most});
  std::vector<Run> runs;
  Progress progress("training", 10, "models");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (std::uint64_t seed = 1; seed <= variants[i].seeds; ++seed, progress.step()) {
      runs.push_back({i, seed, learn(variants[i], task, seed), {}});
      for (Index phrases = fewest; phrases <= most_tested; ++phrases) {
        runs.back().scores.push_back(evaluate(runs.back().model, phrases));
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

void print_alignment(const std::vector<Run>& runs) {
  std::printf(
      "3. Sentences of %d noun phrases: mean weight on the source word that is translated,\n",
      int(most));
  std::printf("   on the one behind it, on the noun it agrees with; even weights would be %.2f\n",
              runs.front().scores[most - fewest].even);
  std::printf("%-20s aligned  next  agreeing   aligned is the greatest\n", "");
  for (const Run& run : runs) {
    if (run.model.sight != Sight::all_states) continue;
    const Score& score = run.scores[most - fewest];
    std::printf("%-17s %d   %.2f   %.2f    %.2f             %.2f\n", variants[run.variant].name,
                int(run.seed), score.aligned, score.next, score.agreeing, score.top);
  }
  std::printf("\n");
}

void print_answer(const std::vector<Run>& runs) {
  double right[2] = {0, 0}, words[2] = {0, 0};
  for (const Run& run : runs) {
    if (run.variant > 1) continue;
    right[run.variant] += run.scores[most - fewest].sentences / double(variants[0].seeds);
    words[run.variant] += run.scores[most - fewest].words / double(variants[0].seeds);
  }
  std::printf(
      "Answer: of the longest sentences trained on, %.2f are wholly right with attention,\n"
      "%.2f through the last state; of their words %.2f and %.2f.\n\n",
      right[0], right[1], words[0], words[1]);
}

// The mean over seeds as lines, each seed as a point, over the mean number of source words.
plot::LineChart length_chart(const std::vector<Run>& runs, const char* title,
                             double Score::* share) {
  plot::LineChart chart;
  chart.title = title;
  chart.subtitle = "doubled: a state of 96 numbers, 1000 steps; points are seeds";
  chart.x_axis = {"words of the source, mean for 2 to 7 noun phrases"};
  chart.y_axis = {"share right", false, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
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
  chart.series.push_back({"right of it: longer than in training",
                          {12.75, 12.75},
                          {0, 1},
                          true,
                          false,
                          true,
                          plot::theme::frame});
  return chart;
}

plot::Heatmap alignment_map(const Tensor& weights, const Translation& one,
                            const std::string& title) {
  plot::Heatmap map = attention_heatmap(weights, one.target, one.source, title);
  map.row_axis = "says";
  map.column_axis = "looks at";
  map.colour_bar = false;
  return map;
}

void draw_alignment(const std::vector<Run>& runs) {
  const TranslationTask task({4, 4});
  Random random(5);
  const Translation one = task.sentence(Part::held_out, random);
  const TranslationBatch b = task.batch({one});
  const auto n = static_cast<Index>(one.source.size());
  const auto words_only = [&](const Tensor& w) { return slice(reshape(w, {n + 1, n}), 0, 0, n); };
  plot::Canvas canvas(1500, 560, 1.4);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(12), 1, 3);
  plot::draw(canvas, panels[0],
             alignment_map(words_only(b.from + 0.5 * b.ends_as), one,
                           "the truth: comes from 1, ends as 0.5"));
  for (const Run& run : runs) {
    if (run.model.sight != Sight::all_states || run.seed != 1) continue;
    const Capture seen;
    const bool right = exact_matches(run.model(b, {.need_weights = true}), b.target.targets) == 1;
    plot::draw(canvas, panels[run.variant == 0 ? 1 : 2],
               alignment_map(words_only(seen["weights"]), one,
                             std::string(variants[run.variant].name) +
                                 (right ? ": all right" : ": some wrong")));
  }
  plot::write_png(canvas, "out/plots/phase6_alignment.png");
}

}  // namespace

int main() try {
  std::printf("Step 68: the bottleneck (takes about 20 seconds)\n\n");
  const std::vector<Run> runs = train_all();
  print_lengths(runs, "1. Wholly right, of 300 held-out sentences of each length",
                &Score::sentences);
  print_lengths(runs, "2. Words right, given the right words before", &Score::words);
  print_alignment(runs);
  print_answer(runs);
  plot::Canvas canvas(1360, 480, 1.5);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], length_chart(runs, "Sentences wholly right", &Score::sentences));
  plot::draw(canvas, panels[1], length_chart(runs, "Words right", &Score::words));
  plot::write_png(canvas, "out/plots/phase6_bottleneck.png");
  draw_alignment(runs);
  std::printf("wrote out/plots/phase6_bottleneck.png and phase6_alignment.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
