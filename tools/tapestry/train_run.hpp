// A run of `tapestry train`: new, or resumed from its file.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "commands.hpp"
#include "material.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"

namespace tapestry::command {

// What must be the same in a resumed run; kept in the checkpoint as text.
struct Settings {
  std::string task, fingerprint;
  Index length = 0, batch = 0, steps = 0;
  double rate = 0;
  std::uint64_t seed = 0;
  Index snapshots = 0;  // how many were asked for
};

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
};

// A new run, or with --resume the one in the file. Throws Error for options that are invalid or
// contradict the file.
Run make_run(const TrainOptions& options);

// Saves the whole state, to resume from; the model alone as the best so far, with its loss; the
// model alone as the snapshot of its step, in 16 bits a weight.
void save(const Run& run);
void save_best(Run& run, double loss);
void save_snapshot(const Run& run, double loss);

// The command line that resumes the run of these options.
std::string command_to_resume(const Run& run, const TrainOptions& options);

}  // namespace tapestry::command
