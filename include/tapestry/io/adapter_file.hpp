// The adapters of a model (nn/adapters.hpp) in a file of their own, beside the model.
#pragma once

#include <filesystem>

#include "tapestry/nn/adapters.hpp"

namespace tapestry {

// Writes a safetensors file: the adapters' tensors by their names (adapter_parameters), and as text
// their rank, alpha and maps, and a fingerprint of the weights that they stand beside. Atomic, as
// write_safetensors, and throws Error as it does, and as adapter_options.
void write_adapters(const std::filesystem::path& path, const Transformer& model);

// Gives the model the adapters of such a file. The file is not trusted. Throws Error, and changes
// nothing, for a model that has adapters, for a file that is none of adapters, one whose rank, maps
// or shapes do not fit the model, and one whose adapters were trained beside other weights.
void load_adapters(const std::filesystem::path& path, Transformer& model);

}  // namespace tapestry
