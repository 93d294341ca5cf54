// Step 14. What does one head learn to look at?
//
// New here: the four learned matrices W_Q, W_K, W_V and W_O, and training. Sentences of a small
// grammar get one word hidden; the head must guess it from the others. Does it have to find those
// that matter? A control cannot choose where to look. "Mask" is here only the name of the word
// <mask>, which stands where one is hidden.
// Writes out/checkpoints/single_head_model.safetensors (drawn by step 15); takes about 3 seconds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/self_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

constexpr int d_model = 64, length = 6, batch = 64, steps = 2000;
constexpr std::uint64_t seed = 42;  // of the parameters at the start; step 18 tells of 42 to 51

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
    const Tensor scores = matmul(q, transpose(k)) / std::sqrt(d_model);
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

// Guesses in many new sentences: with only 64 the share's standard error would be up to 6 %.
void test(const OneHead& model, const Grammar& grammar, const Vocabulary& vocabulary) {
  constexpr int batches = 100;
  Random random(77);
  Index right = 0;  // sentences where the largest logit is that of the hidden word
  for (int i = 0; i < batches; ++i) {
    const Task task = hide_words(grammar, vocabulary, random);  // (batch, length)
    right += exact_matches(model.logits(task.hidden), task.targets);
  }
  constexpr int guesses = batches * batch;
  std::printf("hidden words guessed right: %.0f %% of %d\n\n",
              100.0 * static_cast<double>(right) / guesses, guesses);
}

// Changes the model's parameters, though `model` is const: a Tensor is a handle, and Adam writes to
// the memory that it points to.
void train(const OneHead& model, const Grammar& grammar, const Vocabulary& vocabulary) {
  Random random(1);
  Adam adam(model.parameters(), {.learning_rate = 3e-3});
  Progress progress("training", steps, "steps");
  double recent = 0;
  std::printf("step   loss (guessing blindly: ln %d = %.2f)\n", vocabulary.size(),
              std::log(vocabulary.size()));
  for (int step = 1; step <= steps; ++step) {
    const Task task = hide_words(grammar, vocabulary, random);  // (batch, length)
    Tape tape(model.parameters());
    const Tensor loss = cross_entropy(model.logits(task.hidden), task.targets);  // ()
    adam.step(tape.backward(loss));
    recent += loss.item();
    progress.step(formatted("loss %.2f", loss.item()));
    if (step % (steps / 5) != 0) continue;
    std::printf("%4d   %.2f\n", step, recent / (steps / 5));
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

void print_map(const char* title, const Tensor& map, const Words& words) {
  std::printf("%s\n%s", title, plot::matrix_with_words(doubles(map), words, words).c_str());
  std::printf("smallest %.3f, largest %.3f\n\n", min(map).item(), max(map).item());
}

// How far from uniform the attention weights are before training: six random words, each number
// N(0, 1), and random W_Q and W_K with that standard deviation.
void print_untrained_range(const char* name, double deviation) {
  Random random(42);
  const Tensor x = random.normal({length, d_model});                            // (length, d_model)
  const Tensor q = matmul(x, random.normal({d_model, d_model}, 0, deviation));  // (length, d_model)
  const Tensor k = matmul(x, random.normal({d_model, d_model}, 0, deviation));  // (length, d_model)
  const Tensor weights = attention(q, k, x).weights;                            // (length, length)
  std::printf("%-25s weights from %.3f to %.3f\n", name, min(weights).item(), max(weights).item());
}

// A control: with W_Q = W_K = 0 all scores are 0 and all weights 1/6. Each of the two matrices is a
// factor in the other's gradient, so both stay 0. All else starts as in the model and learns.
void train_even_weights(const Grammar& grammar, const Vocabulary& vocabulary) {
  Random random(seed);
  OneHead even(vocabulary.size(), random);
  even.w_q = Tensor::zeros({d_model, d_model});  // (d_model, d_model)
  even.w_k = Tensor::zeros({d_model, d_model});  // (d_model, d_model)
  std::printf("4. A control: W_Q = W_K = 0, so that all weights stay 1/6\n");
  train(even, grammar, vocabulary);
  test(even, grammar, vocabulary);
}

void compare_with_library(const OneHead& model, const Tensor& x) {
  Random random(0);
  const SingleHeadAttention layer(d_model, random);
  for (const Parameter& theirs : layer.parameters("head.")) {
    for (const Parameter& own : model.parameters()) {
      if (own.name == theirs.name) {
        std::copy_n(own.value.data(), own.value.numel(), theirs.value.data());
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
  print_untrained_range("deviation of W 1/sqrt(64)", 1 / std::sqrt(d_model));
  print_map("this model, untrained:", hidden_word_map(untrained, vocabulary, example), example);
  std::printf("2. Training on sentences such as\n");
  Random sample(5);
  for (int i = 0; i < 4; ++i) std::printf("   %s\n", grammar.sentence(sample).text().c_str());
  train(model, grammar, vocabulary);
  test(model, grammar, vocabulary);
  print_map("3. After training: row = the hidden word, column = where it looks",
            hidden_word_map(model, vocabulary, example), example);

  compare_with_library(model, model.embed(vocabulary.batch({example})));
  train_even_weights(grammar, vocabulary);

  const Task fed = hide_words(grammar, vocabulary, sample);  // (batch, length)
  write_safetensors("out/checkpoints/single_head_model.safetensors", model.parameters(),
                    to_metadata(vocabulary, {fed.hidden, fed.targets, {}}));
  std::printf("wrote out/checkpoints/single_head_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
