// The heads of `tapestry hand` as the command line names them.
#pragma once

#include <vector>

#include "commands.hpp"
#include "tapestry/models/hand_made.hpp"

namespace tapestry::command {

// "0.1 previous word" and the like; of one of them, "0.1 matrices", the files that options name.
// Throws Error, with the form, for anything else, for files without such a head or the reverse, and
// for a file that is no matrix.
std::vector<HandMadeHead> heads_in(const HandOptions& options);

// A .npy file as read_npy reads it, or a CSV file as read_csv does: (rows, columns). Throws Error
// as they do, and for an empty cell.
Tensor read_matrix(const Path& path);

}  // namespace tapestry::command
