// 22b. A test of splitting heads
//
// Write a test of 21a. It gets a function f that claims to cut each row of x into heads:
//
//   f(x, heads)[h, i, c] = x[i, h d + c],   x (n, heads d) -> (heads, n, d)
//
// and says true if f does so, false if not. It is tried with a function that is right and with
// nine that are wrong, each in another way. Most of them give the right shape. A function that
// throws an Error counts as caught.
//
// Choose x so that you can tell each number from all others: reshape(Tensor::arange(24), {3, 8})
// holds 0 to 23, and so does Random random(1); random.normal({3, 8}), nearly surely. Which heads,
// which words, which numbers does your test look at? How many heads does it ask for?
// The result's shape is f(x, heads).shape(); compare it with Shape{heads, n, d}.
// Lesson: tutorials/phase2_many_heads/README.md, "21 Splitting a row"
#include "phase2.hpp"

namespace learn {

bool split_test_passes(const SplitFunction& f) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
