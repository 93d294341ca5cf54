// `tapestry train --ranks`: the ranks that share a run.
#pragma once

#include "commands.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "token_lesson.hpp"
#include "train_run.hpp"

namespace tapestry::command {

// Whether this process starts the ranks of the run, instead of being one. It then does nothing
// else: start_and_wait() returns when all is done, and throws Exit with the status and the line of
// the rank that failed.
bool starts_ranks(const TrainOptions& options);
void start_and_wait(const TrainOptions& options);

// The rank that this process is. Throws Error where mpirun has started another number of them than
// --ranks says.
Ranks& ranks_of(const TrainOptions& options);

// "8 micro-batches a step, on 2 ranks".
std::string micro_batches_text(Index micro_batches, const Ranks& ranks);

// Throws Error on all ranks unless they all make the same run: same options, files, version, kernel
// set and weights.
void check_same_run(Ranks& ranks, const Run& run, const TrainOptions& options);
void check_same_lesson(Ranks& ranks, const Lesson& lesson, const TrainOptions& options);

}  // namespace tapestry::command
