// Decoding: the tokens of ids become a text.
#pragma once

#include <string>
#include <vector>

#include "text/token_models.hpp"

namespace tapestry {

struct DecoderStep {
  enum class Kind {
    byte_level,
    metaspace,
    byte_fallback,
    fuse,
    strip,
    replace,
    word_piece,
    blanks
  };
  Kind kind;
  std::string name;                        // as the file calls it
  std::string pattern = {}, content = {};  // of replace; metaspace, strip: the character;
                                           // word_piece: its prefix
  bool prepended = false;                  // metaspace: the first of a text is no blank
  bool clean = false;                      // word_piece: no blank before punctuation
  std::size_t left = 0, right = 0;         // most characters that strip takes away
};

// The tokens' strings as one text. `first`: they are the beginning of a text; `last`: its end.
std::string decoded(const std::vector<DecoderStep>& steps, std::vector<std::string> tokens,
                    bool first = true, bool last = true);

}  // namespace tapestry
