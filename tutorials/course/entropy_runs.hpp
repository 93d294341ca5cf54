// Trainings in which the entropy of every head is measured: for step 53 and its experiment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

inline constexpr Index entropy_every = 5;  // steps from one measurement to the next

struct EntropyProblem {
  std::string name;
  std::function<Batch(Part part, Index rows, Random& random)> draw;
  TransformerOptions options;
  Index steps;
};

// Hidden words of the grammar, one layer; reverse and induction, two layers. (Induction starts with
// weights of deviation 0.125 instead of 0.02, with which it is not learned in 800 steps.)
std::vector<EntropyProblem> entropy_problems();

// What happened during one training, each list every 5 steps.
struct EntropyRun {
  std::vector<double> steps, losses;           // on a test
  std::vector<std::vector<double>> entropies;  // of each head, those of layer 0 first
  double uniform;                              // the entropy of uniform attention
};

// The learning rate rises for 50 steps and falls to the last of `steps`. `uniform`: all weights are
// kept uniform, in training and in the test. Entropies are those of the queries that count in the
// loss.
EntropyRun train_with_entropies(const EntropyProblem& problem, Index steps, std::uint64_t seed,
                                bool uniform = false);

// The step from which on `curve`, measured every 5 steps, has made at least this part of its way
// from its first to its last value. A crossing that does not last does not count.
double lasting_crossing(const std::vector<double>& curve, double part);

// The step from which on the control's loss has fallen as far as the run's had after this part of
// its way; none if its last loss is not below that.
std::optional<double> control_crossing(const EntropyRun& control, const EntropyRun& run,
                                       double part);

// The mean of lasting_crossing over the heads of a layer that became sharp: those that lost a
// quarter of the entropy of uniform attention or more. `heads` says how many that are.
struct LayerCrossing {
  double step = 0;
  int heads = 0;
};
LayerCrossing layer_crossing(const EntropyRun& run, Index layer, double part);

}  // namespace tapestry
