// 58b. A test: does a function measure induction?
//
// The function of 58a was easy to get slightly wrong, and a wrong one finds heads that are not
// there. Write a test for such functions:
//
//   score(weights, words)   weights (n, n), queries by keys; words: n of them, words.values[i]
//   right                   the mean of weights[i, j + 1] over all positions i whose word came
//                           before, where j is the last position before i with the same word; 0 if
//                           no word comes twice
//   ->                      true if the function is right
//
// The judge gives your test two functions that are right, and nine that are not. Right ones round,
// by less than 1e-5. Every text and every matrix of numbers may be asked about; an infinite number
// or NaN is a wrong answer.
//   Indices words({4}, {7, 8, 7, 8}) makes a text; Random random(1), random.normal({4, 4}) and
//   random.randint(3) draw numbers.
// Lesson: tutorials/phase5_experiments/3_what_carries_the_answer.md, "58 An induction head emerges"
#include <cmath>
#include <vector>

#include "phase5.hpp"

namespace learn {

bool is_induction_score(const InductionScore& score) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
