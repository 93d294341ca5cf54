// The settings of a run of `tapestry train`, as its checkpoint keeps them.
#pragma once

#include <cstdint>
#include <string>

#include "commands.hpp"
#include "model_file.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry::command {

// What must be the same in a resumed run; kept in the checkpoint as text.
struct Settings {
  std::string task, fingerprint;
  Index length = 0, batch = 0, steps = 0;
  double rate = 0;
  std::uint64_t seed = 0;
  Index snapshots = 0;      // how many were asked for
  Index micro_batches = 0;  // of each step; 0: one pass for the whole batch
};

// As text. Throws Error if an entry is missing or not valid.
Metadata to_metadata(const Settings& settings);
Settings settings_in(const Metadata& metadata);

// Throws Error unless micro-batches divide the batch; 0 of them: it is one.
void check_micro_batches(Index micro_batches, Index batch);

// Throws Error, naming the option, if one was given that is not what the run has.
void check_same(const TrainOptions& given, const Settings& settings,
                const TransformerOptions& model);

}  // namespace tapestry::command
