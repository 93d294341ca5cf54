// `tapestry train FILE` with tokens instead of characters: a new model, or one that goes on.
#pragma once

#include "commands.hpp"

namespace tapestry::command {

// Whether these options ask for it: --merges, or --model.
bool learns_tokens(const TrainOptions& options);

// Trains on the first nine tenths of the text and measures on the rest, in bits per byte, which
// compares models of any tokens. The model goes to a new folder, with its tokenizer. Throws Error
// for options that do not go together, a folder that is in use, and as reading them does.
void train_tokens(const TrainOptions& options);

}  // namespace tapestry::command
