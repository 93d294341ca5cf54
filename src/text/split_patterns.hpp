// The patterns by which byte-level tokenizers cut a text into pieces before they merge bytes. They
// are published as regular expressions; here each is a scanner, which takes one step per character.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tapestry {

// A family: GPT-2's pattern is the first, and later ones differ in these points.
struct SplitPattern {
  bool any_case = false;   // 'S is an ending as 's is
  bool lines = false;      // line ends: those behind punctuation belong to it, and blanks are cut
                           // behind the last one; before letters may stand any one character that
                           // is no letter, number or line end, not only a space
  std::size_t digits = 0;  // most digits of a piece; 0: all, with the space before them
};

inline constexpr SplitPattern gpt2_pattern = {};
inline constexpr SplitPattern qwen2_pattern = {true, true, 1};

// The pattern with this regular expression, if it is one of the family.
std::optional<SplitPattern> known_pattern(std::string_view expression);

// The end of the piece that begins at `begin` < text.size().
std::size_t piece_end(const SplitPattern& pattern, std::string_view text, std::size_t begin);

}  // namespace tapestry
