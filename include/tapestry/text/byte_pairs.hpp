// Byte-pair encoding of one's own: learned from a text, used at once or written for other programs.
//
//   const std::vector<BytePair> merges = learn_byte_pairs(read_text("shakespeare.txt"), 4096);
//   const Tokenizer tokenizer = byte_pair_tokenizer(merges);
//   write_byte_pairs("my_tokenizer", merges);    // read_tokenizer reads it again
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapestry/text/tokenizer.hpp"

namespace tapestry {

// Two tokens, as their bytes, that are merged to one.
using BytePair = std::pair<std::string, std::string>;

// The text is cut into pieces by GPT-2's pattern, and each piece into bytes. Then, `count` times,
// the pair of neighbours that stands most often in all pieces is merged in all of them, in each
// from left to right. In "aaa" the pair "a a" stands twice. Of pairs that stand equally often, the
// one with the lowest id of its left token is taken, then the one with the lowest id of its right
// token; ids are those of byte_pair_tokenizer. A pair that stands only once is not merged, so that
// there may be fewer merges. "<|endoftext|>" separates texts, and is no part of them. Any bytes are
// allowed. Throws Error for a negative count.
[[nodiscard]] std::vector<BytePair> learn_byte_pairs(std::string_view text, Index count);

// Ids 0 to 255 are the bytes, as GPT-2 numbers them ("!" is 0, the space 220); then comes what each
// merge makes, in order, if no earlier one made the same; the last is the special token
// <|endoftext|>. Throws Error for a merge of what is no token yet.
[[nodiscard]] Tokenizer byte_pair_tokenizer(std::span<const BytePair> merges);

// Writes vocab.json, merges.txt and tokenizer.json of that tokenizer: all of them or, if something
// fails, none. Throws Error if the folder exists and is not empty.
void write_byte_pairs(const std::filesystem::path& folder, std::span<const BytePair> merges);

}  // namespace tapestry
