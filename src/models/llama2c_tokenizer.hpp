// llama2.c's tokenizer.bin as the text of a tokenizer.json.
#pragma once

#include <filesystem>
#include <string>

#include "tapestry/real.hpp"

namespace tapestry {

// Throws Error for a file of another kind (text/llama2c_tokens.hpp), or of another number of tokens
// than `words`.
std::string llama2c_tokenizer(const std::filesystem::path& path, Index words);

}  // namespace tapestry
