// 59a. Which head carries the answer, and at which word?
//
// A clean and a corrupted text differ in one word, and so in their answer. Read the corrupted text,
// but replace what one head says at one word by what it said there in the clean text. How much of
// the clean answer comes back?
//
// model.heads(text) is what all heads say, (heads, n, d); model.answer(text, heads) is the model's
// answer, a number, when it reads the text and its heads say this (phase5.hpp).
//
// 1. with_patch: a copy of `to` in which the d numbers of this head at this position are those of
//    `from`. Both are (heads, n, d). x.clone() is a copy with numbers of its own.
// 2. restored_shares: for each head and position the share of the gap that the patch restores
//
//      (answer of the patched run - corrupted answer) / (clean answer - corrupted answer)
//
//    clean, corrupted   texts, (n, d) each
//    ->                 (heads, n): 0 where nothing comes back, 1 where everything does
//
// Each cell has a run of its own, in which nothing else is replaced; the text that is read, the
// first argument of answer, is the corrupted one.
// Lesson: tutorials/phase5_experiments/3_what_carries_the_answer.md, "59 Patching"
#include "phase5.hpp"

namespace learn {

Tensor with_patch(const Tensor& to, const Tensor& from, Index head, Index position) {
  // Yours.
  not_written_yet();
}

Tensor restored_shares(const OpenModel& model, const Tensor& clean, const Tensor& corrupted) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
