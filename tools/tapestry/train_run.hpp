// A run of `tapestry train`: new, or resumed from its file.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "commands.hpp"
#include "material.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/training.hpp"
#include "train_settings.hpp"

namespace tapestry::command {

// The lowest loss on held-out data, and after which step it was measured.
struct Best {
  double loss = std::numeric_limits<double>::infinity();
  Index step = 0;
};

struct Run {
  Path checkpoint, best_model;  // the latter empty if no file can be beside the former
  Settings settings;
  Material material;
  Transformer model;
  Adam adam;
  Best best = {};
  std::vector<Index> snapshots = {};  // the steps that get one, sorted
  bool shard_state = false;           // not in the file: any number of ranks goes on with it
};

// Throws Error unless each rank has a share of every step: a micro-batch or more; 0 of them: the
// run has none.
void check_ranks(const TrainOptions& options, Index micro_batches, const Ranks& ranks);

// A new run, or with --resume the one in the file. Throws Error for options that are invalid or
// contradict the file, and on rank 0, which writes all files, for files that would be lost.
Run make_run(const TrainOptions& options, const Ranks& ranks = alone());

// How this run learns: the loss of a step, and the learning rate, which rises for 50 steps and then
// falls as 1 / sqrt(step), whatever the number of steps is. Both refer to the run.
LossOfStep loss_of_step(const Run& run);
LossOfMicroBatch loss_of_micro_batch(const Run& run);
TrainingOptions training_of(const Run& run);

// The evaluation data of a run, always the same rows. The run must outlive it.
class Test {
 public:
  struct Result {
    double loss, share_right;
  };

  explicit Test(const Run& run);
  Result operator()() const;

 private:
  static constexpr Index rows = 100;
  const Run& run_;
  Batch batch_;
};

// Saves the whole state, to resume from; the model alone as the best so far, with its loss; the
// model alone as the snapshot of its step, in 16 bits a weight.
void save(const Run& run);
void save_best(Run& run, double loss);
void save_snapshot(const Run& run, double loss);

// The command line that resumes the run of these options.
std::string command_to_resume(const Run& run, const TrainOptions& options);

}  // namespace tapestry::command
