// How many steps a model of two layers needs to learn a tiny task, by the number of its heads and
// by their width: for step 54 and its experiment.
#pragma once

#include <cstdint>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// d_k: how many numbers a head compares by; d_v: how many it passes on.
struct HeadSetting {
  Index heads, d_k, d_v;
  Initializer start = init::lecun_normal;  // of the parameters
};

// Two causal layers without feed-forward parts; d_model = 64.
Transformer model_with_heads(const TinyTask& task, const HeadSetting& setting, std::uint64_t seed);

struct StepsToLearn {
  Index steps = 0;                 // at which 99 % of 200 held-out answers were right; or the limit
  bool done = false;               // whether they were
  double milliseconds;             // of a step
  std::vector<double> right = {};  // the share of right answers every 20 steps, until then
};

// Adam at `rate` (after a warmup of 50 steps), 32 texts in a batch; tested every 20 steps. `limit`
// is a multiple of 20.
StepsToLearn steps_to_learn(const TinyTask& task, const HeadSetting& setting, std::uint64_t seed,
                            Index limit, double rate = 3e-3);

}  // namespace tapestry
