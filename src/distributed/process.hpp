// What the process of a rank is told by those that started it, and how it reports a failure; the
// same with MPI and without.
#pragma once

#include <string>

#include "distributed/board.hpp"

namespace tapestry::process {

// Set by start_ranks() for its ranks: the path of its board, and its process.
constexpr const char* board_variable = "TAPESTRY_BOARD";
constexpr const char* starter_variable = "TAPESTRY_STARTER";

int rank_started();  // that mpirun has given to this process, 0 if none did

// On the board, or else on standard error. Ranks other than 0 first give rank 0 the time to tell
// the same and end all.
void report(const std::string& line, const board::Board& board, int rank);

// Of a rank that start_ranks() started: standard output and error are from now on those of the
// starter, a terminal if it has one, instead of mpirun's pipe.
void print_where_the_starter_prints();

}  // namespace tapestry::process
