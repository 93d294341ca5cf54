// What the ranks of steps 82 and 85 train: a small GPT with dropout, on micro-batches in which
// different numbers of words count.
#pragma once

#include "tapestry/distributed/training.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

struct UnevenTexts {
  static constexpr Index micro_batches = 8;  // of each step
  static constexpr Index texts = 4;          // of each micro-batch, with 7 words each

  // The same weights at each call.
  static Transformer new_model();

  // How many words of each text count in micro-batch i, from the first on: 1 to 7.
  static Index words_of(Index micro_batch);

  // The sum of the losses of these words, of which there may be as many as `words` says. Texts
  // depend on step and micro-batch alone; what dropout draws comes from `drop`.
  static MicroBatch loss_of(const Transformer& model, Index step, Index micro_batch, Index words,
                            Random& drop);
};

}  // namespace tapestry
