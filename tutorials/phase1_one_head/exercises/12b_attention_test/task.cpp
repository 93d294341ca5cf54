// 12b. A test of attention
//
// Here you do not write attention, you write its test. It gets a function f that claims to compute
//
//   f(q, k, v) = softmax(q k^T / sqrt(d)) v,   q (m, d), k (n, d), v (n, d) -> (m, d)
//
// and says true if f does so, false if not. Your test is tried with a function that is right and
// with nine that are wrong, each in another way. It should catch all nine. A function that throws
// an Error counts as caught.
//
// Choose the inputs yourself: Random random(1); random.normal({3, 4}) is a matrix of random
// numbers. Which mistakes would not show with the inputs that you chose? Compare with numbers that
// you know, or that you compute in another way; the library's attention(q, k, v).output is one.
// largest_difference(a, b) is the largest |a - b|, and throws an Error if the shapes differ.
// Rounding makes differences of about 1e-7; they are no mistakes.
// Lesson: tutorials/phase1_one_head/README.md, "12 All queries at once"
#include "phase1.hpp"

namespace learn {

bool attention_test_passes(const AttentionFunction& f) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
