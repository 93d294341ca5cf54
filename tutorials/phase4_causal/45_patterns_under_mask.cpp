// Step 45. What does the mask do to what heads look at?
//
// New here: numbers for a pattern. How far a head looks, how evenly, how much weight goes to the
// word itself, to the one before and to <bos>; and to the word that decides what comes next. Each
// beside baselines: the same weights without the mask, the model trained without one, fresh
// weights, and shuffled words.
// Reads the models of step 43; writes out/plots/phase4_deciding_word.png; takes less than a second.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/causal_pictures.hpp"
#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/next_word_rows.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/batch.hpp"

using namespace tapestry;

namespace {

constexpr Index sentences = 300, length = 7;
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

Transformer read_trained(const std::string& name) {
  return read_transformer("out/checkpoints/" + name + ".safetensors",
                          "step 43 trains and saves it. Type: make run-43");
}

// Numbers for the pattern of each head (heads), means over sentences and over queries 2 to 6 (the
// first two have hardly a choice).
struct Patterns {
  Tensor distance;  // positions from query to key
  Tensor evenness;  // entropy, as a share of that of even weights: 1 looks everywhere alike
  Tensor start, before, self, next;  // weight on <bos>, the word before, the word itself, the next
};

// 1 where key - query = offset, else 0.
Tensor diagonal(Index offset) {
  Tensor result = Tensor::zeros({length, length});  // (length, length)
  for (Index i = std::max<Index>(0, -offset); i < length && i + offset < length; ++i) {
    result.set({i, i + offset}, 1);
  }
  return result;
}

Tensor mean_of_queries(const Tensor& by_query) {         // (sentences, heads, length) -> (heads)
  return mean(slice(by_query, -1, 2, length), {0, -1});  // (heads)
}

Patterns patterns(const Tensor& weights, bool causal) {  // (sentences, heads, length, length)
  const auto on = [&](Index offset) {
    return mean_of_queries(sum(weights * diagonal(offset), -1));  // (heads)
  };
  return {mean_of_queries(attention_distance(weights)),
          mean_of_queries(normalized_entropy(weights, causal ? Mask::causal() : Mask())),
          mean_of_queries(squeeze(slice(weights, -1, 0, 1), -1)),
          on(-1),
          on(0),
          on(1)};
}

// Mean weight on the word that decides the last one: on the verb before an object, on the
// preposition before a place; by layer and head. The query is the word before the last, where the
// last one is predicted. In shuffled sentences the deciding word may stand anywhere before.
std::vector<double> on_deciding_word(const Transformer& model, Role role, bool shuffle) {
  constexpr Index query = length - 2;
  Random random(9);
  std::vector<Words> texts;
  Indices keys({sentences, length}, std::vector<std::int32_t>(sentences * length, -1));
  while (texts.size() < sentences) {
    Sentence sentence = grammar.sentence(random);
    if (shuffle) sentence = shuffled(sentence, random);
    for (const Link& link : sentence.links) {
      if (link.role != role || link.from + 1 > query) continue;  // + 1: <bos> stands before
      keys.values[texts.size() * length + query] = link.from + 1;
      texts.push_back(sentence.words);
    }
  }
  return mean_weights(model, next_word_batch(vocabulary, texts).inputs, keys);
}

double mean_of_heads(const Tensor& heads) { return double{mean(heads).item()}; }

void print_row(const std::string& name, const Patterns& of, const auto& number) {
  std::printf("%-26s", name.c_str());
  for (const Tensor& heads : {of.distance, of.evenness, of.start, of.before, of.self, of.next}) {
    std::printf(" %8.2f", number(heads));
  }
  std::printf("\n");
}

// One line for each head, or one for each layer, the mean of its heads.
void print(const std::string& name, const Transformer& model, bool by_head) {
  Random random(8);
  const std::vector<Tensor> weights =  // (sentences, heads, length, length) each
      weights_of(model, grammar.batch(vocabulary, sentences, random).inputs);
  for (std::size_t layer = 0; layer < weights.size(); ++layer) {
    const Patterns p = patterns(weights[layer], model.blocks[0].attention.is_causal);
    for (Index h = 0; by_head && h < model.options.num_heads; ++h) {
      print_row("layer " + std::to_string(layer) + ", head " + std::to_string(h), p,
                [&](const Tensor& heads) { return double{heads.at({h})}; });
    }
    if (!by_head) print_row(name + ", layer " + std::to_string(layer), p, mean_of_heads);
  }
}

// By how much the log-probability falls without heads.
using Fall = std::function<double(const std::vector<HeadOf>&, Replacement)>;

// Heads of layer 0 cut together, first those that look most at the deciding word; whole layers.
void print_joint_cuts(const std::vector<double>& looks, const Fall& fall) {
  std::vector<Index> order = {0, 1, 2, 3};  // the heads of layer 0, first those that look most
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return looks[static_cast<std::size_t>(a)] > looks[static_cast<std::size_t>(b)];
  });
  const auto pair = [&](std::size_t first, Replacement by, const char* how) {
    const Index a = order[first], b = order[first + 1];
    std::printf("0.%td and 0.%td together%-20s %32.3f\n", a, b, how, fall({{0, a}, {0, b}}, by));
  };
  pair(0, Replacement::zero, "");
  pair(0, Replacement::mean, ", set to their mean");
  pair(2, Replacement::zero, "");
  for (const std::size_t third : {2U, 3U}) {
    const Index a = order[0], b = order[1], c = order[third];
    std::printf("0.%td, 0.%td and 0.%td together %47.3f\n", a, b, c,
                fall({{0, a}, {0, b}, {0, c}}, Replacement::zero));
  }
  const std::vector<HeadOf> first = {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
                            second = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
  std::vector<HeadOf> all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::printf("all of layer 0 %58.3f\n", fall(first, Replacement::zero));
  std::printf("all of layer 1 %58.3f\n", fall(second, Replacement::zero));
  std::printf("both layers %61.3f\n", fall(all, Replacement::zero));
  std::printf("cut: by how much the log-probability of the last word falls without the head\n");
}

void print_deciding_word(const Transformer& model, const Transformer& untrained) {
  std::printf("\n3. Weight on the word that decides the last one (even weights: 1/6 = 0.17)\n");
  std::printf("                  verb, before an object        preposition, before a place\n");
  std::printf(
      "layer.head     trained untrained shuffled     trained untrained shuffled      cut\n");
  Random random(8);
  const Batch last =
      last_words(grammar.batch(vocabulary, sentences, random));  // (sentences, length)
  const double whole = said_without(model, last, {}).log_probability;
  const Fall fall = [&](const std::vector<HeadOf>& cut, Replacement by) {
    return whole - said_without(model, last, cut, by).log_probability;
  };
  std::vector<std::vector<double>> columns;
  for (const Role role : {Role::verb_object, Role::preposition_place}) {
    columns.push_back(on_deciding_word(model, role, false));
    columns.push_back(on_deciding_word(untrained, role, false));
    columns.push_back(on_deciding_word(model, role, true));
  }
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    std::printf("%zu.%zu         ", i / 4, i % 4);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      std::printf("%s%9.2f", c == 3 ? "   " : "", columns[c][i]);
    }
    const HeadOf head = {static_cast<Index>(i / 4), static_cast<Index>(i % 4)};
    std::printf("%9.3f\n", fall({head}, Replacement::zero));
  }
  print_joint_cuts(columns[0], fall);
  plot::write_png(deciding_word_bars(columns, 1.0 / 6), "out/plots/phase4_deciding_word.png");
  std::printf("\nwrote out/plots/phase4_deciding_word.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 45: patterns under the mask (takes less than a second)\n\n");
  const Transformer causal = read_trained("causal_model"), peeking = read_trained("peeking_model");
  Transformer open = causal;  // the same weights ...
  for (TransformerBlock& block : open.blocks)
    block.attention.is_causal = false;  // ... without mask
  Random random(1);
  const Transformer untrained(causal.options, random);

  std::printf("1. The causal model, head by head: means over %lld sentences\n",
              static_cast<long long>(sentences));
  std::printf("%-26s distance evenness    <bos>   before     self     next\n", "");
  print("causal", causal, true);
  std::printf("\n2. Means of heads: with the mask and without, trained and not\n");
  print("causal", causal, false);
  print("untrained", untrained, false);
  print("mask taken off", open, false);
  print("trained without", peeking, false);
  const Tensor even = Tensor::full({1, 1, length, length}, 1.0 / length);  // (1, 1, length, length)
  print_row("even weights, no mask", patterns(even, false), mean_of_heads);
  print_deciding_word(causal, untrained);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
