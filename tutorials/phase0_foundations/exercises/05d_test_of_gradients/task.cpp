// 05d. A test that catches wrong gradients
//
// Now you judge. Write a test that gets a function and what is said to be its gradient, and
// returns whether the two agree:
//
//   f          a function from a tensor to a number
//   gradient   returns the gradient of f at x, in the shape of x, or so it says
//   ->         true if the gradient is right
//
// Both take a matrix x of shape (3, 3). Which x to try is your choice, and so is the rest: compare
// with central differences, as in 05c. The check calls your test with a right gradient, which has
// to pass, and with nine wrong ones; the answer says how many of them you caught, and which not.
//
// x is made of floats: with h below about 0.001 the difference of two close numbers loses its
// digits. Allow for a small error, therefore. Random(seed).normal({3, 3}) makes a random matrix.
// Lesson: tutorials/phase0_foundations/README.md, "02 The tape"
#include "phase0.hpp"

namespace learn {

bool gradient_passes(const NumberOf& f, const GradientAt& gradient) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
