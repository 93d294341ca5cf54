// 14b. The gradient of an embedding
//
// The rows of the table are learned, so each needs its gradient. The result of 14a has n rows, and
// the gradient of the loss by them, dy, arrives. The row of a word was copied to every place where
// the word stands. Each copy had its effect on the loss, and effects add up:
//
//   dtable[w, c] = sum of dy[i, c] over all places i with ids_i = w
//
//   dy       (n, d)
//   ids      (n)          ids.values[i], from 0 to n_words - 1
//   ->       (n_words, d)
//
// A word that does not occur has the gradient 0.
// Lesson: tutorials/phase1_one_head/README.md, "16 The way back: gradients by hand"
#include "phase1.hpp"

namespace learn {

Tensor embedding_backward(const Tensor& dy, const Indices& ids, Index n_words) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
