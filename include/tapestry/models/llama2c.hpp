// The files of llama2.c (github.com/karpathy/llama2.c): a model, and its tokenizer.
//
// A model's file (version 0) is seven whole numbers of 32 bits: width, width of the feed-forward,
// layers, heads, key/value heads, words (negative if the logits have a matrix of their own) and
// positions; then the numbers of all tensors as 32-bit floats, each tensor for all layers. Its
// rotary positions turn neighbours (RotaryLayout::interleaved).
#pragma once

#include <filesystem>

namespace tapestry {

// Writes the model into a new folder as Hugging Face lays it out: config.json and
// model.safetensors, with rotary positions that turn halves, and, unless `tokenizer` is empty,
// tokenizer.json. The files are not trusted. Throws Error for a file that is missing, cut off or of
// another kind, sizes that do not fit together, a tokenizer of another number of words, and a
// folder that has a model already, or a tokenizer.json that would be replaced; nothing is then
// written.
void convert_llama2c(const std::filesystem::path& model, const std::filesystem::path& tokenizer,
                     const std::filesystem::path& folder);

}  // namespace tapestry
