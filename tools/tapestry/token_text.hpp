// Tokens of a model's folder, for people.
#pragma once

#include <string>
#include <string_view>

#include "tapestry/tensor.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry::command {

// Blanks as "␣"; what does not print, and bytes that are no character, as "<0xE2>".
std::string shown(std::string_view bytes);

// The names of the special tokens with which ids begin: "<s>", or "".
std::string special_in_front(const Tokenizer& tokenizer, const Indices& ids);

// Throws Error, naming the token, for an id that a model of so many words does not have.
void check_belongs(const Tokenizer& tokenizer, const Indices& ids, Index words);

}  // namespace tapestry::command
