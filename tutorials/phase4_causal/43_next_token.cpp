// Step 43. How does a model learn to write, and why must it not look ahead?
//
// New here: the loss at all positions in one pass. The same small transformer is trained twice on
// the same sentences, with the causal mask and without. Without it the answer stands one place to
// the right: the loss falls to almost nothing, and nothing is learned that could write.
// Writes out/checkpoints/causal_model.safetensors, which steps 44 to 47 read, and
// out/checkpoints/peeking_model.safetensors; takes about 5 seconds.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/next_word_rows.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/input_format.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index rows = 64, steps = 400, length = 7;  // <bos> and six words
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

void print_one_row() {
  const Batch batch = next_word_batch(vocabulary, {grammar.example().words});  // (1, length)
  std::printf("1. One sentence, seven things to learn, all in one pass\n");
  for (std::size_t i = 0; i < length; ++i) {
    std::printf("%-6s -> %-6s given", vocabulary.word(batch.inputs.values[i]).c_str(),
                vocabulary.word(batch.targets.values[i]).c_str());
    for (std::size_t j = 0; j <= i; ++j) {
      std::printf(" %s", vocabulary.word(batch.inputs.values[j]).c_str());
    }
    std::printf("\n");
  }
  std::printf("\n");
}

Transformer trained(bool causal) {
  Random random(1);
  Transformer model({.vocab_size = vocabulary.size(), .max_length = 8, .is_causal = causal},
                    random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data(2, static_cast<std::uint64_t>(step));
    const Batch batch = next_word_rows(vocabulary, Part::train, rows, data);  // (rows, length)
    return cross_entropy(model(batch.inputs), batch.targets);  // logits (rows, length, vocabulary)
  };
  const auto rate = [](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .warmup_steps = 50, .steps = steps});
  };
  const Training run = train(adam, loss_of_step,
                             {.steps = steps,
                              .learning_rate = rate,
                              .what = causal ? "training, causal" : "training, no mask",
                              .tokens = rows * length,
                              .baseline_loss = std::log(vocabulary.size())});
  std::printf("%-8s", causal ? "causal" : "no mask");
  for (const std::size_t step : {1U, 10U, 50U, 100U, 200U, 400U}) {
    std::printf(" %6.2f", run.losses[step - 1]);
  }
  std::printf("\n");
  return model;
}

void print_size(const Transformer& model) {
  Index attention = 0;
  for (const TransformerBlock& block : model.blocks) attention += block.attention.num_parameters();
  std::printf("Each learns %lld numbers, %lld of them in attention: %lld layers of 4 * 64 * 64\n",
              static_cast<long long>(model.num_parameters()), static_cast<long long>(attention),
              static_cast<long long>(model.options.num_layers));
}

// The mean loss when each word is predicted from the words before it alone: the model is given
// every prefix separately, as in generation.
double loss_word_by_word(const Transformer& model, const Batch& batch) {
  const Index count = batch.inputs.shape[0];
  double total = 0;
  for (Index n = 1; n <= length; ++n) {
    Indices prefix, target;
    prefix.shape = {count, n};
    target.shape = {count};
    for (Index row = 0; row < count; ++row) {
      const auto begin = batch.inputs.values.begin() + row * length;
      prefix.values.insert(prefix.values.end(), begin, begin + n);
      target.values.push_back(batch.targets.values[static_cast<std::size_t>(row * length + n - 1)]);
    }
    const Tensor last = squeeze(slice(model(prefix), 1, n - 1, n), 1);  // (count, vocabulary)
    total += double{cross_entropy(last, target).item()};
  }
  return total / length;
}

Words written_by(const Transformer& model, Random& random) {
  const auto next_logits = [&](const Indices& ids) {
    return squeeze(slice(model(ids), 0, -1, ids.shape[0]), 0);  // (vocabulary), last position
  };
  const Indices ids = generate(next_logits, Indices({1}, {Vocabulary::bos}), random,
                               {.max_new_tokens = length, .eos = Vocabulary::eos});
  Words words = split_words(vocabulary.decode(ids));
  words.erase(words.begin());
  if (words.back() == "<eos>") words.pop_back();
  return words;
}

// How many of 200 written sentences the grammar allows; the first three are shown.
int print_written(const char* name, const Transformer& model) {
  Random random(5);
  int allowed = 0;
  for (int i = 0; i < 200; ++i) {
    const Words words = written_by(model, random);
    const bool good = std::isfinite(grammar.log_probability(words));
    allowed += good;
    if (i >= 3) continue;
    const std::string text = words.empty() ? "(nothing)" : Sentence{words, {}}.text();
    std::printf("%-10s %s %s\n", name, good ? "✓" : "✗", text.c_str());
  }
  return allowed;
}

// What the grammar itself would lose on these sentences.
double loss_of_the_truth(const Batch& batch) {
  double total = 0;
  const Index count = batch.inputs.shape[0];
  for (Index row = 0; row < count; ++row) {
    Words words;
    for (Index i = 1; i < length; ++i) {
      words.push_back(
          vocabulary.word(batch.inputs.values[static_cast<std::size_t>(row * length + i)]));
    }
    total -= grammar.log_probability(words);
  }
  return total / static_cast<double>(count * length);
}

void print_test(const Transformer& causal, const Transformer& peeking,
                const Transformer& untrained) {
  std::printf("\n3. Sentences that they write, word by word\n");
  const int by_causal = print_written("causal", causal),
            by_peeking = print_written("no mask", peeking);
  const int by_untrained = print_written("untrained", untrained);

  Random random(3);
  const Batch batch = next_word_rows(vocabulary, Part::held_out, 1000, random);  // (1000, length)
  std::printf("\n4. Test on 1000 sentences that were held out\n");
  std::printf("           loss, whole row at once   loss, word by word   allowed of 200 written\n");
  const auto print = [&](const char* name, const Transformer& model, int allowed) {
    std::printf("%-10s %14.3f %22.3f %20d\n", name,
                double{cross_entropy(model(batch.inputs), batch.targets).item()},
                loss_word_by_word(model, batch), allowed);
  };
  print("causal", causal, by_causal);
  print("no mask", peeking, by_peeking);
  print("untrained", untrained, by_untrained);
  const double best = grammar.entropy() / length;
  std::printf("The grammar's entropy: %.2f over %lld words, %.3f each; on these sentences %.3f\n",
              grammar.entropy(), static_cast<long long>(length), best, loss_of_the_truth(batch));
  std::printf("causal / grammar: %.3f\n",
              double{cross_entropy(causal(batch.inputs), batch.targets).item()} / best);
}

}  // namespace

int main() try {
  std::printf("Step 43: the next word (takes about 5 seconds)\n\n");
  print_one_row();
  std::printf("2. Training: loss before step (guessing blindly: ln %d = %.2f)\n", vocabulary.size(),
              std::log(vocabulary.size()));
  std::printf("              1     10     50    100    200    400\n");
  const Transformer causal = trained(true), peeking = trained(false);
  Random random(1);
  const Transformer untrained(causal.options, random);
  print_size(causal);
  print_test(causal, peeking, untrained);

  const auto fed = to_metadata(vocabulary, next_word_batch(vocabulary, {grammar.example().words}));
  write_transformer("out/checkpoints/causal_model.safetensors", causal, fed);
  write_transformer("out/checkpoints/peeking_model.safetensors", peeking, fed);
  std::printf("\nwrote out/checkpoints/causal_model.safetensors\n");
  std::printf("wrote out/checkpoints/peeking_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
