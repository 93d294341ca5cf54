// 42a. A test that finds nine leaks
//
// Write a test of causality. You are given a function f from n rows to n rows of d numbers, for
// any n: a layer, or several. Row i of f(x) may depend on the rows 0 to i of x, and on no later
// one. Return true if f keeps this, and false if something leaks from later rows to earlier ones.
//
//   x      (n, d)
//   f(x)   (n, d), the same for the same x
//
// You cannot see the code of f: call it, change later rows of x, call it again, and compare the
// earlier rows of the results. Your test is tried on functions that are right and on nine that
// leak: some only from one row to one other, some little, some for some n, some only if the
// numbers are large (about 10). A right function's earlier rows stay as they are, to within
// 1e-5. slice(x, 0, a, b) has the rows a to b - 1, concat({x, y}, 0) puts y below x,
// random.normal({n, d}) draws numbers, and largest_difference(x, y) compares.
// Lesson: tutorials/phase4_causal/README.md, 42 Causality, tested and proved
#include "phase4.hpp"

namespace learn {

bool causality_passes(const SequenceFunction& f, Index d) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
