// Pre-tokenizing: a text is cut into pieces, each of which becomes tokens on its own.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/split_patterns.hpp"

namespace tapestry {

// What becomes of the matches of a pattern.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct PreTokenizerStep {
  enum class Kind {
    byte_level,  // the last step: the model reads bytes
    split,
    white_space,
    white_space_words,
    punctuation,
    digits,
    metaspace
  };
  enum class Prepend { always, first, never };
  Kind kind;
  std::string name;                          // as the file calls it
  bool prefix_space = false;                 // of byte_level
  std::optional<SplitPattern> pattern = {};  // of byte_level and split; none: all in one piece
  std::string text = {};                     // of split, if it has no pattern; of metaspace
  Delimiters delimiters = Delimiters::isolated;
  bool inverted = false;              // what does not match is a match
  Prepend prepend = Prepend::always;  // of metaspace
  bool cut = false;                   // metaspace: into words
};

// Pieces of a text. What steps have changed is kept in `changed`.
struct Pieces {
  std::vector<std::string_view> views = {};
  std::deque<std::string> changed = {};
};

// `text` is the whole text that is cut, or a part of it; `at_start`: its beginning.
void pre_tokenize(const PreTokenizerStep& step, std::string_view text, bool at_start,
                  Pieces& pieces);

}  // namespace tapestry
