// Models that are watched while they learn to continue repetitions: for step 58 and its experiment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tapestry/nn/transformer.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// Pieces of 6 to 12 random letters, again and again until the text has 24. Targets are the letters
// that can be known: all but the piece when it is new, and the first letter of its repetition.
Batch repetitions(Index rows, Random& random);

// What learned positions begin as.
enum class FirstPositions { drawn, sinusoids, large_noise };  // large: as large as sinusoids are

struct InductionSetting {
  std::string name;  // for the progress line; "": none
  Index layers, heads;
  Positions positions;
  FirstPositions first = FirstPositions::drawn;
};

struct InductionRun {
  InductionSetting setting;
  Transformer model;
  std::vector<double> at = {}, loss = {};             // every ten steps, on 60 texts
  std::vector<Tensor> previous = {}, induction = {};  // (heads): layer 0, last layer

  // The score of the best head, every ten steps.
  std::vector<double> best_previous() const;
  std::vector<double> best_induction() const;
};

// Without feed-forward parts, d_model = 32; Adam at `rate` (after a warmup of 50 steps), 32 texts
// in a batch.
InductionRun train_on_repetitions(const InductionSetting& setting, int seed, Index steps,
                                  double rate = 5e-3);

// The 60 texts of the test: (60, 25).
const Batch& repetition_test();

}  // namespace tapestry
