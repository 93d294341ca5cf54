// 14a. An embedding: rows of a table
//
// A model computes with vectors, so every word gets one. The vectors are the rows of a table; a
// word is written as the number of its row, its id. The embedding of a sentence is the rows of its
// words, one below the other:
//
//   result[i, c] = table[ids_i, c]
//
//   table   (words, d)
//   ids     (n)          ids.values[i], whole numbers from 0 to words - 1
//   ->      (n, d)
//
// The same word may stand in a sentence twice. ids.values.size() is n.
// Lesson: tutorials/phase1_one_head/README.md, "14 One head learns"
#include "phase1.hpp"

namespace learn {

Tensor embedding_forward(const Tensor& table, const Indices& ids) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
