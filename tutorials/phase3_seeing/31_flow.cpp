// Step 31. Who looks at whom, as arrows?
//
// New here: a picture with arrows from the word that asks to the words it looks at, as wide as the
// weight, and only above a threshold, because otherwise each word would have an arrow to every
// word. Which threshold? And do the arrows join words that belong together? Counted over 300
// sentences, beside the same heads untrained.
// Reads the model of step 23; writes out/plots/phase3_attention_flow.png; takes about a second.
#include <array>
#include <cstdio>
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
constexpr std::array thresholds = {0.15, 0.25, 0.5};
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

// For each head the map of a sentence: (heads, length, length). Row i is taken when word i is
// hidden, which is so in copy i of the sentence.
Tensor hidden_word_maps(const Transformer& model, const Words& words) {
  Indices ids = vocabulary.batch(std::vector<Words>(length, words));  // (copies, length)
  for (std::size_t i = 0; i < length; ++i) ids.values[i * length + i] = Vocabulary::mask;
  const Capture seen;
  model(ids, {}, {.need_weights = true});         // (copies, length, vocabulary)
  const Tensor weights = filed_weights(seen)[0];  // (copies, heads, length, length)
  std::vector<Tensor> rows;                       // (heads, length) each
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

// A summary of both tables, at the middle threshold.
void print_answer(const Counts& trained, const Counts& untrained) {
  double drawn = 0, carried = 0, right = 0, of_chance = 0;
  for (const auto& head : trained) {
    drawn += head[1].drawn;
    carried += head[1].attention;
    right += head[1].right;
  }
  for (const auto& head : untrained) of_chance += head[1].drawn;
  const double all = static_cast<double>(trained.size()) * sentences;
  std::printf("\nAt %.2f a trained head has %.1f arrows, an untrained one %.1f. The arrows carry\n",
              thresholds[1], drawn / all, of_chance / all);
  std::printf("%.0f %% of the attention, and %.0f %% of them join words that are linked.\n",
              100 * carried / (all * length), 100 * right / drawn);
}

plot::Flow flow_of(const Tensor& maps, Index head, double threshold, const std::string& title) {
  plot::Flow flow;
  flow.queries = flow.keys = grammar.example().words;
  flow.weights = doubles(slice(maps, 0, head, head + 1));  // (1, length, length)
  flow.threshold = threshold;
  flow.title = title;
  return flow;
}

}  // namespace

int main() try {
  std::printf("Step 31: attention as arrows (takes about a second)\n\n");
  const Transformer model = read_transformer("out/checkpoints/multi_head_model.safetensors",
                                             "step 23 trains and saves it. Type: make run-23");
  Random random(7);
  const Transformer untrained(model.options, random);
  std::printf("Arrows per sentence, the share of all attention that they carry, and how many of\n");
  std::printf("them join words that the grammar links (any two words: 8 of 36, 22 %%)\n");
  std::printf("       threshold     0.15                  0.25                  0.50\n");
  const Counts trained = count_arrows(model), chance = count_arrows(untrained);
  print_counts("trained", trained);
  print_counts("untrained", chance);
  print_answer(trained, chance);

  const Words words = grammar.example().words;
  // (heads, length, length) each
  const Tensor maps = hidden_word_maps(model, words), fresh = hidden_word_maps(untrained, words);
  plot::Canvas canvas(1320, 400, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(20), 1, 3, 44);
  plot::draw(canvas, areas[0], flow_of(maps, 1, 0.25, "Head 1, trained"));
  plot::draw(canvas, areas[1], flow_of(maps, 2, 0.25, "Head 2, trained"));
  plot::draw(canvas, areas[2], flow_of(fresh, 1, 0.15, "Head 1, untrained: 0.15 draws all"));
  plot::write_png(canvas, "out/plots/phase3_attention_flow.png");
  std::printf("\nwrote out/plots/phase3_attention_flow.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
