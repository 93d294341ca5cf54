// A run of `tapestry train`, as it begins and as it goes on out of its file.
#pragma once

#include <limits>
#include <string>

#include "commands.hpp"
#include "material.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"

namespace tapestry::command {

// What has to be the same when a run goes on; kept in the checkpoint as text.
struct Settings {
  std::string task, fingerprint;
  Index length = 0, batch = 0, steps = 0;
  double rate = 0;
  std::uint64_t seed = 0;
};

// The lowest loss of what is not learned from, and after which step it was measured.
struct Best {
  double loss = std::numeric_limits<double>::infinity();
  Index step = 0;
};

struct Run {
  Path checkpoint, best_model;  // the latter empty where nothing can lie beside the former
  Settings settings;
  Material material;
  Transformer model;
  Adam adam;
  Best best = {};
};

// As --resume says, a new run or the one in the file. Throws Error for options that make no sense,
// or contradict the file.
Run make_run(const TrainOptions& options);

// The whole state, to go on from; the model alone as the best by now, with its loss.
void save(const Run& run);
void save_best(Run& run, double loss);

// What to type to go on with the run that the options began.
std::string command_to_resume(const Run& run, const TrainOptions& options);

}  // namespace tapestry::command
