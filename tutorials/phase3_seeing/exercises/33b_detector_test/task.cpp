// 33b. A test of a detector
//
// A detector gives a head a score between 0 and 1 for "looks at the word before": the mean weight
// on key i - 1, over the queries i = 1 to n - 1. Row 0 does not count.
//
//   f(weights) = (sum over i = 1 ... n - 1 of weights_i,i-1) / (n - 1)
//   weights  (n, n) with n >= 2, each row sums to 1; the head need not be causal
//
// Write a test of such functions: true if f does what it should, false if not. Your test is tried
// on functions that are right and on nine that are wrong: some read other weights, some leave rows
// out or treat the sum in a wrong way. A right f differs from the formula by less than 1e-5.
//
// Make heads whose score you know, and compare: one that looks only at the word before, one that
// never does, one with even weights, one that does it in some rows. Tensor({2, 2}, {1, 0, 0.5,
// 0.5}) has the rows 1 0 and 0.5 0.5; or use softmax(random.normal({n, n})) and the formula.
// Lesson: tutorials/phase3_seeing/README.md, 33 Names for heads
#include "phase3.hpp"

namespace learn {

bool detector_passes(const Detector& f) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
