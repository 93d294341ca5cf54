// A model in a folder as Hugging Face lays it out: config.json, and the weights (weight_files.hpp).
//
//   const Transformer model = read_model("stories260K");
//   write_model("mine", model, "llama");
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// The model of a folder. The names of the tensors may have the prefix that their architecture gives
// them ("transformer.") or lack it; tied weights may be stored a second time, if they are equal.
// Tensors that a table lists as no weights of the model, such as masks, are checked and passed
// over: their names are added to `passed_over`. Throws Error as read_config and WeightFiles do, and
// naming the tensor, its shape and what was expected, for one that is missing, surplus or of
// another shape. Nothing of the model is in memory before all shapes agree.
[[nodiscard]] Transformer read_model(const std::filesystem::path& folder,
                                     std::vector<std::string>* passed_over = nullptr);

// Writes the model in this layout and with these names, so that read_model and other programs read
// it; a tied weight is written once. Biases that the architecture has and the model lacks are
// written as zeros. The folder is made if it is missing. Throws Error, naming an option, if models
// of this architecture cannot have the options of this one, and for a model with adapters
// (io/adapter_file.hpp); then nothing is written.
void write_model(const std::filesystem::path& folder, const Transformer& model,
                 std::string_view architecture);

}  // namespace tapestry
