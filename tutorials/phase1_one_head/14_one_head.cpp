// Step 14. What does one head learn to look at?
//
// New here: the four learned matrices W_Q, W_K, W_V and W_O, and training. Sentences of a small
// grammar get one word hidden; the head must guess it from the others, so it has to find the words
// that matter. Where it looks is compared with the links that the grammar knows, and with two
// baselines. "Mask" is here only the name of the word <mask>, which stands where one is hidden.
// Writes out/checkpoints/single_head_model.safetensors (drawn by step 15); takes about 3 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/self_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/text/feeding.hpp"

using namespace tapestry;

namespace {

constexpr Index d_model = 64, length = 6, batch = 64, steps = 2000;
constexpr std::uint64_t seed = 42;  // of the weights at the start; the lesson tells of 43 to 45

// The whole model, written out. Linear layers and attention come from no library here.
struct OneHead {
  Tensor words, positions;    // (vocabulary, d_model), (length, d_model)
  Tensor w_q, w_k, w_v, w_o;  // (d_model, d_model) each
  Tensor guess;               // (d_model, vocabulary): from the head's output to logits

  OneHead(Index vocabulary, Random& random)
      : words(random.normal({vocabulary, d_model}, 0, 0.1)),
        positions(random.normal({length, d_model}, 0, 0.1)),
        w_q(init::lecun_normal({d_model, d_model}, random)),  // deviation 1 / sqrt(d_model)
        w_k(init::lecun_normal({d_model, d_model}, random)),
        w_v(init::lecun_normal({d_model, d_model}, random)),
        w_o(init::lecun_normal({d_model, d_model}, random)),
        guess(init::lecun_normal({d_model, vocabulary}, random)) {}

  Parameters parameters() const {
    return {{"words", words},         {"positions", positions},   {"head.query.weight", w_q},
            {"head.key.weight", w_k}, {"head.value.weight", w_v}, {"head.output.weight", w_o},
            {"guess", guess}};
  }

  // ids (batch, length) -> (batch, length, d_model)
  Tensor embed(const Indices& ids) const { return embedding(words, ids) + positions; }

  // x (batch, length, d_model) -> output like x, weights and scores (batch, length, length)
  Attention head(const Tensor& x) const {
    // q, k and v (batch, length, d_model); scores (batch, length, length)
    const Tensor q = matmul(x, w_q), k = matmul(x, w_k), v = matmul(x, w_v);
    const Tensor scores = matmul(q, transpose(k)) / std::sqrt(static_cast<double>(d_model));
    const Tensor weights = softmax(scores);                     // (batch, length, length)
    return {matmul(matmul(weights, v), w_o), weights, scores};  // output (batch, length, d_model)
  }

  // One score for each word of the vocabulary, at each position: (batch, length, vocabulary).
  Tensor logits(const Indices& ids) const { return matmul(head(embed(ids)).output, guess); }
};

struct Task {       // sentences with one word hidden in each
  Indices hidden;   // (batch, length), one <mask> per row
  Indices targets;  // (batch, length): the hidden word there, -1 (ignored) elsewhere
};

Task hide_words(const Grammar& grammar, const Vocabulary& vocabulary, Random& random) {
  std::vector<Words> texts;
  for (Index i = 0; i < batch; ++i) texts.push_back(grammar.sentence(random).words);
  Task task{vocabulary.batch(texts), {}};  // (batch, length)
  task.targets = Indices(task.hidden.shape, std::vector<std::int32_t>(batch * length, -1));
  for (Index row = 0; row < batch; ++row) {
    const auto at = static_cast<std::size_t>(row * length + random.randint(length));
    task.targets.values[at] = std::exchange(task.hidden.values[at], Vocabulary::mask);
  }
  return task;
}

// How many hidden words the model's first choice gets right.
int count_right(const OneHead& model, const Task& task) {
  const Tensor logits = model.logits(task.hidden);  // (batch, length, vocabulary)
  const Index classes = logits.size(-1);
  int right = 0;
  for (std::size_t place = 0; place < task.targets.values.size(); ++place) {
    if (task.targets.values[place] < 0) continue;
    const real* row = logits.data() + static_cast<Index>(place) * classes;
    const auto first_choice = std::max_element(row, row + classes) - row;
    if (first_choice == task.targets.values[place]) ++right;
  }
  return right;
}

// Guesses in many new sentences: with only 64 the share's standard error would be up to 6 %.
void test(const OneHead& model, const Grammar& grammar, const Vocabulary& vocabulary) {
  constexpr int batches = 100;
  Random random(77);
  int right = 0;
  for (int i = 0; i < batches; ++i) {
    right += count_right(model, hide_words(grammar, vocabulary, random));
  }
  constexpr int guesses = batches * static_cast<int>(batch);
  std::printf("hidden words guessed right: %.0f %% of %d\n\n", 100.0 * right / guesses, guesses);
}

// Changes the model's weights, though `model` is const: a Tensor is a handle, and Adam writes to
// the memory that it points to.
void train(const OneHead& model, const Grammar& grammar, const Vocabulary& vocabulary) {
  Random random(1);
  Adam adam(model.parameters(), {.learning_rate = 3e-3});
  Progress progress("training", steps, "steps");
  double recent = 0;
  std::printf("step   loss (guessing blindly: ln %d = %.2f)\n", vocabulary.size(),
              std::log(vocabulary.size()));
  for (Index step = 1; step <= steps; ++step) {
    const Task task = hide_words(grammar, vocabulary, random);  // (batch, length)
    Tape tape(model.parameters());
    const Tensor loss = cross_entropy(model.logits(task.hidden), task.targets);  // ()
    adam.step(tape.backward(loss));
    recent += double{loss.item()};
    char note[32];
    std::snprintf(note, sizeof note, "loss %.2f", double{loss.item()});
    progress.step(note);
    if (step % (steps / 5) != 0) continue;
    std::printf("%4lld   %.2f\n", static_cast<long long>(step), recent / (steps / 5));
    recent = 0;
  }
}

// Row i: where the head looks for word i when only that word is hidden. (length, length)
Tensor hidden_word_map(const OneHead& model, const Vocabulary& vocabulary, const Words& words) {
  std::vector<Tensor> rows;  // (1, length) each
  for (std::size_t i = 0; i < words.size(); ++i) {
    Indices ids = vocabulary.batch({words});  // (1, length)
    ids.values[i] = Vocabulary::mask;
    const Tensor weights = model.head(model.embed(ids)).weights;  // (1, length, length)
    rows.push_back(slice(squeeze(weights, 0), 0, static_cast<Index>(i), static_cast<Index>(i) + 1));
  }
  return concat(rows, 0);  // (length, length)
}

// Mean weight between linked words, by role and both ways, over 300 sentences. With `shuffled` the
// words of each sentence are put in random order, and the links follow their words.
std::array<double, 8> linked_weight(const OneHead& model, const Vocabulary& vocabulary,
                                    bool shuffled) {
  constexpr int sentences = 300;
  const Grammar grammar;
  Random random(99);
  std::array<double, 8> sums{}, counts{};
  for (int s = 0; s < sentences; ++s) {
    const Sentence sentence = grammar.sentence(random);
    std::vector<Index> order = random.permutation(length);  // new place of each word
    if (!shuffled) std::sort(order.begin(), order.end());
    Words words(sentence.words.size());
    for (std::size_t i = 0; i < words.size(); ++i)
      words[static_cast<std::size_t>(order[i])] = sentence.words[i];
    const Tensor map = hidden_word_map(model, vocabulary, words);  // (length, length)
    for (const Link& link : sentence.links) {
      const Index from = order[static_cast<std::size_t>(link.from)],
                  to = order[static_cast<std::size_t>(link.to)];
      const auto role = static_cast<std::size_t>(link.role) * 2;
      sums[role] += double{map.at({from, to})};
      sums[role + 1] += double{map.at({to, from})};
      counts[role] += 1;
      counts[role + 1] += 1;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= counts[i];
  return sums;
}

void print_map(const char* title, const Tensor& map, const Words& words) {
  std::printf("%s\n%s", title, plot::matrix_with_words(doubles(map), words, words).c_str());
  std::printf("smallest %.3f, largest %.3f\n\n", double{min(map).item()}, double{max(map).item()});
}

void print_links(const OneHead& model, const OneHead& untrained, const Vocabulary& vocabulary) {
  std::printf("4. Mean weight between words that the grammar links\n");
  std::printf("%-34s trained  untrained  shuffled\n", "hidden word -> looked at");
  const std::array<const char*, 8> roles = {"determiner -> its noun", "noun -> its determiner",
                                            "subject -> verb",        "verb -> subject",
                                            "verb -> object",         "object -> verb",
                                            "preposition -> place",   "place -> preposition"};
  const auto trained = linked_weight(model, vocabulary, false);
  const auto before = linked_weight(untrained, vocabulary, false);
  const auto shuffled = linked_weight(model, vocabulary, true);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::printf("%-34s %6.2f %9.2f %10.2f\n", roles[i], trained[i], before[i], shuffled[i]);
  }
  std::printf("\n");
}

// How far from uniform the attention weights are before training: six random words, each number
// N(0, 1), and random W_Q and W_K with that standard deviation.
void print_untrained_range(const char* name, double deviation) {
  Random random(42);
  const Tensor x = random.normal({length, d_model});                            // (length, d_model)
  const Tensor q = matmul(x, random.normal({d_model, d_model}, 0, deviation));  // (length, d_model)
  const Tensor k = matmul(x, random.normal({d_model, d_model}, 0, deviation));  // (length, d_model)
  const Tensor weights = attention(q, k, x).weights;                            // (length, length)
  std::printf("%-25s weights from %.3f to %.3f\n", name, double{min(weights).item()},
              double{max(weights).item()});
}

void compare_with_library(const OneHead& model, const Tensor& x) {
  Random random(0);
  const SingleHeadAttention layer(d_model, random);
  for (const Parameter& theirs : layer.parameters("head.")) {
    for (const Parameter& own : model.parameters()) {
      if (own.name == theirs.name) {
        std::copy_n(own.value.data(), own.value.count(), theirs.value.data());
      }
    }
  }
  // layer(x) is the output alone, (1, length, d_model), by fused_attention; layer.with_weights(x)
  // returns the weights, too.
  const double difference = largest_difference(layer(x), model.head(x).output);
  std::printf("The library's SingleHeadAttention with these weights differs by %s\n\n",
              difference < 1e-4 ? "less than 1e-4" : "TOO MUCH");
}

}  // namespace

int main() try {
  std::printf("Step 14: one head (takes about 3 seconds)\n\n");
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random random(seed), again(seed);  // the same numbers twice: one model will learn, one will not
  const OneHead model(vocabulary.size(), random), untrained(vocabulary.size(), again);
  const Words example = grammar.example().words;

  std::printf("1. Before training (a perfectly flat map would be 1/6 = 0.167)\n");
  print_untrained_range("deviation of W 0.02", 0.02);
  print_untrained_range("deviation of W 1/sqrt(64)", 1 / std::sqrt(static_cast<double>(d_model)));
  print_map("this model, untrained:", hidden_word_map(untrained, vocabulary, example), example);
  std::printf("2. Training on sentences such as\n");
  Random sample(5);
  for (int i = 0; i < 4; ++i) std::printf("   %s\n", grammar.sentence(sample).text().c_str());
  train(model, grammar, vocabulary);
  test(model, grammar, vocabulary);
  print_map("3. After training: row = the hidden word, column = where it looks",
            hidden_word_map(model, vocabulary, example), example);

  print_links(model, untrained, vocabulary);
  compare_with_library(model, model.embed(vocabulary.batch({example})));

  const Task fed = hide_words(grammar, vocabulary, sample);  // (batch, length)
  write_safetensors("out/checkpoints/single_head_model.safetensors", model.parameters(),
                    to_metadata(vocabulary, {fed.hidden, fed.targets, {}}));
  std::printf("wrote out/checkpoints/single_head_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
