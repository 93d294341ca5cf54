// A transformer in a file: its weights, the options it was built with, and how it was fed.
//
//   write_transformer("model.safetensors", model, to_metadata(vocabulary, batch));  // feeding.hpp
//   const Transformer model = read_transformer("model.safetensors");
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// Writes a safetensors file with the model's parameters, and as text its options (to_metadata)
// beside what else is given: words and feeding (text/feeding.hpp), without which the `tapestry`
// command could not feed it. Throws Error as write_safetensors does.
void write_transformer(const std::filesystem::path& path, const Transformer& model,
                       std::map<std::string, std::string> metadata = {});

// The model of such a file, or of a checkpoint with such options (checkpoint.hpp). Throws Error as
// read_checkpoint and to_transformer do; where there is no such file at all, `if_missing`, if
// given, says in the message how to get it.
Transformer read_transformer(const std::filesystem::path& path, const std::string& if_missing = "");

// The same of a file that was read already. Options are not believed: they must agree with the
// tensors' shapes before a model is built, so that it takes no more memory than a few times the
// file. Throws Error naming what does not agree, and as transformer_options and load_parameters do.
Transformer to_transformer(const Safetensors& file);

}  // namespace tapestry
