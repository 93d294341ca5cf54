// One rank that trains a small GPT (as in step 82), its step in parts that can be timed: for step
// 84.
#pragma once

#include "course/parameter_rows.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"

namespace tapestry {

struct TrainingRank {
  static constexpr Index micro_batches = 8;  // of a step, on all ranks together

  Ranks& ranks;       // must stay as long as this
  Transformer model;  // the same on all ranks at first
  Adam adam;
  Row gradients;  // a number for each parameter: the sums so far, zeros after update()

  explicit TrainingRank(Ranks& ranks);

  // Of 4 texts of 64 random tokens each: the sum of the losses of all tokens, and their number.
  // The same texts on each rank that asks for this step and micro-batch.
  MicroBatch loss(Index step, Index micro_batch) const;

  // Adds the gradients of that loss to `gradients`.
  void compute(Index step, Index micro_batch);

  // Makes `gradients` the sums over all ranks, by ring_all_reduce; to be called on all of them.
  void all_reduce();

  // A step of Adam by `gradients`, sums as they are.
  void update();
};

}  // namespace tapestry
