// Small stories, made by rules, as a text whose entropy is known.
//
//   Tokira had a red kite. It was cold. Birds sang. She went to the pond and met a sad frog.
//   "I lost my drum," said the frog. The drum was under the bridge. Bells rang. "Thank you,
//   Tokira," said the frog. "I like your red kite."
//
// Each choice is made once, with equal chances; all else follows from what stands before: the name,
// of random syllables, she or he (by its last letter), the frog, the drum, the red kite. In three
// places stand up to three sentences that have nothing to do with it, so that no fixed distance
// tells where something stood. The bits of a story are the sum of the log2 of how many choices
// there were, and no model can need fewer on average. One that only knows how often pieces of text
// follow each other needs more.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/random.hpp"

namespace tapestry {

struct Story {
  std::string text;  // one line, with a line end
  double bits;       // -log2 of the probability of the text
  // From which byte to which (that one excluded) the words stand, with their blanks, that are
  // sure, for they were said before. (*She* or *He* is not: another aside might come.)
  std::vector<std::pair<std::size_t, std::size_t>> again;
};

// The same generator in the same state gives the same story on every machine.
Story story(Random& random);

}  // namespace tapestry
