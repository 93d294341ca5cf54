// Training by several ranks: each computes a share of every step.
//
//   Ranks& ranks = ranks_of_this_program();  // the one line more
//   const auto loss_of_micro_batch = [&](Index step, Index micro_batch) {
//     Random random = random_of(seed, step, micro_batch, 8);
//     const Batch batch = draw_batch(random);
//     return sum_of_losses(model(batch.ids), batch.targets);
//   };
//   train_in_parts(adam, loss_of_micro_batch, {.micro_batches = 8}, {.steps = 1000}, ranks);
//
// The batch of a step is a fixed number of micro-batches. Losses and weights are the same bits on
// any number of ranks up to that number, on any number of threads, and in one process alone:
// - the gradients of all micro-batches are added in one fixed tree (fixed_tree.hpp);
// - they are gradients of sums, divided by the tokens of the whole step: a mean of means would be
//   another number where micro-batches have different numbers of tokens;
// - the norm for clipping is added in one fixed tree over blocks of the parameters;
// - random numbers depend on step and micro-batch, never on the rank.
//
// Ranks exchange gradients by pieces, while the backward pass goes on: each number has an owner,
// to whom all others send their sums; the owner adds them and sends the result to all. So a rank
// sends and receives 2 (R - 1) / R times the size of the gradients, the least that is possible
// (Thakur, Rabenseifner, Gropp 2005).
#pragma once

#include <functional>

#include "tapestry/distributed/ranks.hpp"
#include "tapestry/random.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

struct MicroBatch {
  Tensor loss_sum;    // one number: the sum of the losses of its tokens
  double tokens = 1;  // how many; 0 if none counts
};

// The sum of the losses of cross_entropy, and how many targets are not ignored (not negative).
[[nodiscard]] MicroBatch sum_of_losses(const Tensor& logits, const Indices& targets);

// A pure function of both; micro-batches are counted from 0, steps from 1.
using LossOfMicroBatch = std::function<MicroBatch(Index step, Index micro_batch)>;

// The generator for a micro-batch: each has a stream of its own. With one micro-batch it is that of
// train(), Random(seed, step).
[[nodiscard]] Random random_of(std::uint64_t seed, Index step, Index micro_batch,
                               Index micro_batches);

struct PartsOptions {
  Index micro_batches = 1;  // of each step; at least as many as ranks
  // Each rank keeps and updates the optimizer's state of a part of the parameters only, and sends
  // the new weights to the others (ZeRO, stage 1; Rajbhandari et al. 2020). Same bits.
  bool shard_state = false;
};

// Makes steps optimizer.steps() + 1 .. options.steps, as train() does; all ranks call it with the
// same arguments and the same weights. options.what is shown by rank 0 only; options.after_step is
// called on all ranks, with the loss of the whole step.
//
// Throws Error as train() does. A loss or gradient that is not finite is an Error on every rank,
// which names the rank, the micro-batch and the operation; the weights are then as they were before
// that step. Throws Error if there are more ranks than micro-batches.
Training train_in_parts(Optimizer& optimizer, const LossOfMicroBatch& loss_of_micro_batch,
                        const PartsOptions& parts, const TrainingOptions& options = {},
                        Ranks& ranks = alone());

// To be called on all ranks: brings the divided state of an optimizer to rank 0, which calls save
// and drops what is not its own again, also when save throws. What was not divided is saved as it
// is.
void save_from_all(Ranks& ranks, Optimizer& optimizer, const std::function<void()>& save);

}  // namespace tapestry
