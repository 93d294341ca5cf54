// A transformer in a file: its weights, its options, and the format of its inputs.
//
//   write_transformer("model.safetensors", model, to_metadata(vocabulary, batch));
//   const Transformer model = read_transformer("model.safetensors");
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// Writes a safetensors file with the model's parameters, and as text its options (to_metadata)
// and the given metadata: vocabulary and input format (text/input_format.hpp), which the `tapestry`
// command needs. Throws Error as write_safetensors does, and for a model with adapters
// (adapter_file.hpp). With Precision::half a weight takes 16 bits.
void write_transformer(const std::filesystem::path& path, const Transformer& model,
                       std::map<std::string, std::string> metadata = {},
                       Precision precision = Precision::full);

// The model of such a file, or of a checkpoint with such options (checkpoint.hpp). Throws Error as
// read_checkpoint and to_transformer do; if the file does not exist, the message ends with
// `if_missing`, which says how to get it.
[[nodiscard]] Transformer read_transformer(const std::filesystem::path& path,
                                           const std::string& if_missing = "");

// The same from a file that was read already. Options are not trusted: they must agree with the
// tensors' shapes before a model is built, so that it takes no more memory than a few times the
// file. Throws Error naming the disagreement, and as transformer_options and load_parameters do.
[[nodiscard]] Transformer to_transformer(const Safetensors& file);

}  // namespace tapestry
