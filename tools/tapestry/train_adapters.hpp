// `tapestry train FILE --model FOLDER --rank N`: a model that goes on by low-rank adapters.
#pragma once

#include <string>

#include "commands.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry::command {

// Whether the model learns by adapters alone, and whether they are saved as a file beside it.
bool by_adapters(const TrainOptions& options);
bool saves_adapters(const TrainOptions& options);

// Throws Error for options of adapters that would have no effect, or contradict each other.
void check_adapter_options(const TrainOptions& options);

// The file of adapters. The check throws Error for one that is in use.
Path adapter_file(const TrainOptions& options);
void check_adapter_file(const Path& file, bool overwrite);

// Gives the model new adapters, or those of the file that was named.
void adapt(Transformer& model, const TrainOptions& options);

// How many numbers they have, and in words: "4096 numbers learn (1.6 % of those): adapters of rank
// 4 at query, value".
Index adapter_count(const Transformer& model);
std::string adapters_text(const Transformer& model);

// The command lines that go on with the training, for that many steps, and that use the result.
// With --whole new adapters go on beside the model that the old ones were merged into.
std::string command_to_go_on(const TrainOptions& options, const Transformer& model,
                             const Path& saved, Index steps);
std::string command_to_generate(const TrainOptions& options, const Path& saved);

}  // namespace tapestry::command
