// Step 31. Who looks at whom, as arrows?
//
// New here: a picture with arrows from the word that asks to the words it looks at, as wide as the
// weight, and only above a threshold, because otherwise each word would have an arrow to every
// word. Which threshold? And do the arrows join words that belong together? Counted over 300
// sentences, beside the same heads untrained.
// Reads the model of step 23; writes out/plots/phase3_attention_flow.png; takes about a second.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sentences = 300;
constexpr Index length = 6;
constexpr std::array thresholds = {0.15, 2.0 / 6, 0.5};  // the second: twice the even weight
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

// For each head the map of a sentence: (heads, length, length). Row i is taken when word i is
// hidden, which is so in copy i of the sentence.
Tensor hidden_word_maps(const Transformer& model, const Words& words) {
  Indices ids = vocabulary.batch(std::vector<Words>(length, words));  // (copies, length)
  for (std::size_t i = 0; i < length; ++i) ids.values[i * length + i] = Vocabulary::mask;
  const Capture seen;
  model(ids, {}, {.need_weights = true});            // (copies, length, vocabulary)
  const Tensor weights = captured_weights(seen)[0];  // (copies, heads, length, length)
  std::vector<Tensor> rows;                          // (heads, length) each
  for (Index i = 0; i < length; ++i) {
    rows.push_back(squeeze(squeeze(slice(slice(weights, 0, i, i + 1), 2, i, i + 1), 2), 0));
  }
  return stack(rows, 1);  // (heads, length, length)
}

// 1 where the grammar links two words, in either direction.
Tensor linked(const Sentence& sentence) {
  Tensor marks = Tensor::zeros({length, length});  // (length, length)
  for (const Link& link : sentence.links) {
    marks.set({link.from, link.to}, 1);
    marks.set({link.to, link.from}, 1);
  }
  return marks;
}

// The arrows of one head at one threshold, over all sentences.
struct Arrows {
  double drawn = 0, attention = 0, right = 0;  // how many; the weight that they carry; linked words
};

using Counts = std::vector<std::vector<Arrows>>;  // by head and threshold

Counts count_arrows(const Transformer& model) {
  Counts counts(static_cast<std::size_t>(model.options.num_heads),
                std::vector<Arrows>(thresholds.size()));
  Random random(99);
  for (int s = 0; s < sentences; ++s) {  // maps (heads, length, length), marks (length, length)
    const Sentence sentence = grammar.sentence(random);
    const Tensor maps = hidden_word_maps(model, sentence.words), marks = linked(sentence);
    for (std::size_t head = 0; head < counts.size(); ++head) {
      for (Index at = 0; at < length * length; ++at) {
        const Index query = at / length, key = at % length;
        const double weight{maps.at({static_cast<Index>(head), query, key})};
        for (std::size_t t = 0; t < thresholds.size(); ++t) {
          if (weight < thresholds[t]) continue;
          counts[head][t].drawn += 1;
          counts[head][t].attention += weight;
          counts[head][t].right += double{marks.at({query, key})};
        }
      }
    }
  }
  return counts;
}

void print_counts(const char* name, const Counts& counts) {
  for (std::size_t head = 0; head < counts.size(); ++head) {
    std::printf("%-9s %zu", name, head);
    for (const Arrows& one : counts[head]) {
      std::printf("   %5.1f %4.0f %% ", one.drawn / sentences,
                  100 * one.attention / (sentences * length));
      if (one.drawn > 0)
        std::printf("%4.0f %%", 100 * one.right / one.drawn);
      else
        std::printf("     -");
    }
    std::printf("\n");
  }
}

// A summary at the middle threshold: all heads together, means of a sentence.
struct Summary {
  double arrows, carry, linked;  // how many; the others in percent
};

Summary summary_of(const Counts& counts) {
  Arrows sum;
  for (const auto& head : counts) {
    sum.drawn += head[1].drawn;
    sum.attention += head[1].attention;
    sum.right += head[1].right;
  }
  const double all = static_cast<double>(counts.size()) * sentences;
  return {sum.drawn / all, 100 * sum.attention / (all * length), 100 * sum.right / sum.drawn};
}

void print_answer(const char* name, const Counts& counts) {
  const auto [arrows, carry, linked] = summary_of(counts);
  std::printf("%-16s %4.1f arrows, %3.0f %% of the attention", name, arrows, carry);
  if (arrows > 0) std::printf(", %3.0f %% join linked words", linked);
  std::printf("\n");
}

// The least and the most from other random starts.
void print_starts(const TransformerOptions& options) {
  std::vector<double> carry, linked;
  for (int seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const Summary one = summary_of(count_arrows(Transformer(options, random)));
    carry.push_back(one.carry), linked.push_back(one.linked);
  }
  const auto [low, high] = std::ranges::minmax(carry);
  const auto [fewest, most] = std::ranges::minmax(linked);
  std::printf("  ten other starts: %.0f to %.0f %% of the attention, ", low, high);
  std::printf("%.0f to %.0f %% join linked words\n", fewest, most);
}

plot::Flow flow_of(const Tensor& maps, Index head, std::optional<double> threshold,
                   const std::string& title) {
  plot::Flow flow;
  flow.queries = flow.keys = grammar.example().words;
  flow.weights = doubles(slice(maps, 0, head, head + 1));  // (1, length, length)
  flow.threshold = threshold;
  flow.title = title;
  return flow;
}

void draw(const Transformer& model, const Transformer& small, const Transformer& wide) {
  const Words words = grammar.example().words;
  // (heads, length, length) each
  const Tensor maps = hidden_word_maps(model, words), even = hidden_word_maps(small, words),
               random = hidden_word_maps(wide, words);
  plot::Canvas canvas(920, 780, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(20), 2, 2, 44);
  plot::draw(canvas, areas[0], flow_of(maps, 1, {}, "Head 1, trained"));
  plot::draw(canvas, areas[1], flow_of(maps, 2, {}, "Head 2, trained"));
  plot::draw(canvas, areas[2], flow_of(random, 1, {}, "Head 1, untrained, deviation 0.125"));
  plot::draw(canvas, areas[3], flow_of(even, 1, 0.15, "Head 1, untrained, deviation 0.02"));
  plot::write_png(canvas, "out/plots/phase3_attention_flow.png");
}

}  // namespace

int main() try {
  std::printf("Step 31: attention as arrows (takes about a second)\n\n");
  const Transformer model = read_transformer("out/checkpoints/multi_head_model.safetensors",
                                             "step 23 trains and saves it. Type: make run-23");
  Random seed(7);
  const Transformer small(model.options, seed);
  TransformerOptions options = model.options;
  options.initializer = init::lecun_normal;
  const Transformer wide(options, seed);
  std::printf("Arrows per sentence, the share of all attention that they carry, and how many of\n");
  std::printf("them join words that the grammar links (any two words: 8 of 36, 22 %%)\n");
  std::printf("       threshold     0.15                  0.33                  0.50\n           ");
  for (std::size_t t = 0; t < thresholds.size(); ++t) std::printf("  arrows  carry linked");
  std::printf("\n");
  const Counts trained = count_arrows(model), chance = count_arrows(small),
               of_wide = count_arrows(wide);
  print_counts("trained", trained);
  print_counts("0.02", chance);
  print_counts("0.125", of_wide);
  std::printf("0.02: untrained, deviation 0.02; 0.125: untrained, 1 / sqrt(rows) ");
  std::printf("(64 rows: 0.125)\n");
  std::printf("\nAt twice the even weight, mean of the four heads:\n");
  print_answer("trained", trained);
  print_answer("untrained, 0.02", chance);
  print_answer("untrained, 0.125", of_wide);
  print_starts(options);
  draw(model, small, wide);
  std::printf("\nwrote out/plots/phase3_attention_flow.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
