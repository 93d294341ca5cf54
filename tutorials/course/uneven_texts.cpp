#include "course/uneven_texts.hpp"

#include "course/grammar.hpp"

namespace tapestry {
namespace {

constexpr std::uint64_t seed = 5;
constexpr Index length = 7;  // of a text

const Vocabulary& vocabulary() {
  static const Vocabulary all(Grammar().words());
  return all;
}

}  // namespace

Transformer UnevenTexts::new_model() {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary().size(),
                      .max_length = 8,
                      .d_model = 32,
                      .num_heads = 4,
                      .num_layers = 1,
                      .dropout = 0.1},
                     random);
}

Index UnevenTexts::words_of(Index micro_batch) { return 1 + micro_batch * 5 % 7; }

MicroBatch UnevenTexts::loss_of(const Transformer& model, Index step, Index micro_batch,
                                Index words, Random& drop) {
  Random random = random_of(seed, step, micro_batch, micro_batches);
  Batch batch = Grammar().batch(vocabulary(), texts, random);  // (texts, length)
  for (Index i = 0; i < texts * length; ++i) {
    if (i % length >= words) batch.targets.values[std::size_t(i)] = -1;  // not counted
  }
  const Tensor logits = model(batch.inputs, {}, {.random = &drop});  // (texts, length, vocabulary)
  return sum_of_losses(logits, batch.targets);
}

}  // namespace tapestry
