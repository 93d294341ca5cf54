// llama2.c's tokenizer.bin: the longest token's length, then of each token its score (a 32-bit
// float), its length and its bytes. Any two neighbours whose texts together are a token are merged,
// those with the highest score first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

struct ScoredToken {
  std::string text;  // as it is stored
  float score;
};

// <unk>, <s>, </s> and the 256 bytes, which no merge makes.
constexpr std::int32_t llama2c_first_merged = 259;

// The tokens, in the order of their ids. Throws Error, which does not name the file, for bytes that
// end within a token, a length that cannot be, and a score that is not finite.
std::vector<ScoredToken> llama2c_tokens(std::string_view bytes);

}  // namespace tapestry
