// 46c. Top p
//
// Of all words only the likeliest may be drawn: as few as possible, so that their probabilities
// add up to p or more. Go from the likeliest word down and add up; the word at which the sum
// reaches p is the last that is kept. Then the kept probabilities are divided by their sum, and the
// others become 0.
//
//   probabilities 0.5 0.05 0.3 0.15 and p = 0.7:   0.5 + 0.3 reaches it, words 0 and 2 are kept
//   result        0.625 0 0.375 0
//
//   probabilities  (vocabulary), they sum to 1, no two are equal
//   p              above 0 and below 1
//   ->             (vocabulary), in the same order
//
// A list of the ids, sorted by probability with std::sort (<algorithm>), is the way to go down.
// Lesson: tutorials/phase4_causal/README.md, 46 Generation
#include "phase4.hpp"

namespace learn {

Tensor top_p_only(const Tensor& probabilities, double p) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
