// Step 10. What does attention change?
//
// New here: three words to translate, by hand: once every output gets the same vector, once each
// looks back at the words. Scores become weights, and weights mix values. And three flow charts.
// Writes out/plots/phase1_bottleneck.png, out/plots/phase1_look_back.png and
// out/plots/phase1_history.png; takes less than a second.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/diagram.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

const std::vector<std::string> source = {"le", "chat", "dort"}, output = {"the", "cat", "sleeps"};

// The numbers are chosen by hand; later they are learned. A key says what its word is: [article,
// noun, verb]; a query says how much each of the three matters. A value says what the word means:
// [animal, sleep].
const Tensor keys({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});                 // (words, 3)
const Tensor values({3, 2}, {0, 0, 1, 0, 0, 1});                        // (words, 2)
const Tensor queries({3, 3}, {2, 1, 0, 0, 1.946, 0.693, 0, 1.1, 2.3});  // (outputs, 3)

const plot::Colour tight{252, 224, 200}, asking{218, 233, 246};

// Here a mean; a recurrent network learns what to keep in its last state. Either is made before the
// first output asks.
void one_vector() {
  const Tensor all = mean(values, 0);  // (2)
  std::printf("1. One vector for the whole sentence\n");
  for (const std::string& word : output) {
    std::printf("%-7s is written from (%.2f, %.2f)\n", word.c_str(), double{all.at({0})},
                double{all.at({1})});
  }
}

// (outputs, words)
Tensor look_back() {
  const Tensor scores = matmul(queries, transpose(keys));  // (outputs, words)
  const Tensor weights = softmax(scores);                  // (outputs, words)
  const Tensor mixed = matmul(weights, values);            // (outputs, 2)
  std::printf("\n2. A look back at each word: weights that sum to 1, and the mixture\n");
  std::printf("          le  chat  dort\n");
  for (Index i = 0; i < 3; ++i) {
    std::printf("%-7s", output[static_cast<std::size_t>(i)].c_str());
    for (Index j = 0; j < 3; ++j) std::printf(" %5.2f", double{weights.at({i, j})});
    std::printf("  is written from (%.2f, %.2f)\n", double{mixed.at({i, 0})},
                double{mixed.at({i, 1})});
  }
  return weights;
}

void print_sum(const Tensor& weights) {
  const Index cat = 1;
  std::printf("\n3. The mixture for \"cat\", one word at a time\n");
  for (Index j = 0; j < 3; ++j) {
    std::printf("%-4s  score %5.3f  weight %.2f * value (%.0f, %.0f)\n",
                source[static_cast<std::size_t>(j)].c_str(), double{queries.at({cat, j})},
                double{weights.at({cat, j})}, double{values.at({j, 0})}, double{values.at({j, 1})});
  }
}

void draw_bottleneck() {
  plot::Diagram d;
  d.title = "Without attention: everything passes through one vector";
  d.subtitle = "each state is made from the one before and from one word";
  std::vector<std::size_t> words, states;
  for (std::size_t i = 0; i < 3; ++i) {
    words.push_back(d.add({source[i], {"word " + std::to_string(i)}}));
    states.push_back(d.add({"state " + std::to_string(i), {"d numbers"}}));
    d.connect(words[i], states[i]);
    if (i > 0) d.connect(states[i - 1], states[i]);
  }
  d.boxes[states[2]].fill = tight;
  d.boxes[states[2]].lines = {"all that the outputs", "get of the sentence"};
  for (const std::string& word : output) d.connect(states[2], d.add({word, {"output"}}));
  plot::write_png(plot::render(d), "out/plots/phase1_bottleneck.png");
}

void draw_look_back(const Tensor& weights) {
  plot::Diagram d;
  d.title = "With attention: each output looks back at every word";
  d.subtitle = "what the output “cat” takes from each; softmax turns all three scores into weights";
  const std::size_t query = d.add({"query", {"what do I look for?"}, {}, asking});
  const std::size_t sum = d.add({"sum", {"weights × values"}});
  for (std::size_t j = 0; j < 3; ++j) {
    const std::size_t key = d.add({"key of " + source[j], {"what am I?"}});
    const std::size_t value = d.add({"value of " + source[j], {"what do I give?"}});
    const double weight{weights.at({1, static_cast<Index>(j)})};
    d.connect(query, key, "compare");
    d.connect(key, value, formatted("weight %.1f", weight));
    d.connect(value, sum);
  }
  d.connect(sum, d.add({"output", {"for “cat”"}, {}, asking}));
  plot::write_png(plot::render(d), "out/plots/phase1_look_back.png");
}

void draw_history() {
  plot::Diagram d;
  d.title = "From recurrent networks to transformers";
  const std::vector<plot::Box> boxes = {
      {"recurrent network", {"Elman 1990", "a state, word by word"}},
      {"LSTM", {"Hochreiter, Schmidhuber 1997", "gates keep what matters"}},
      {"recurrent + attention", {"Bahdanau et al. 2015", "the output looks back"}},
      {"transformer", {"Vaswani et al. 2017", "attention, no recurrence"}, {}, asking},
      {"GPT, BERT", {"2018", "trained on large texts"}, {}, asking}};
  for (const plot::Box& box : boxes) {
    const std::size_t made = d.add(box);
    if (made > 0) d.connect(made - 1, made);
  }
  plot::write_png(plot::render(d), "out/plots/phase1_history.png");
}

}  // namespace

int main() {
  std::printf("Step 10: one vector, or a look back (takes less than a second)\n\n");
  one_vector();
  const Tensor weights = look_back();  // (outputs, words)
  print_sum(weights);
  draw_bottleneck();
  draw_look_back(weights);
  draw_history();
  std::printf("\nwrote out/plots/phase1_bottleneck.png, out/plots/phase1_look_back.png\n");
  std::printf("wrote out/plots/phase1_history.png\n");
}
