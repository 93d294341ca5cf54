// 71c. Rotary positions in the other layout
//
// In 60b columns 2i and 2i + 1 of a query or key are a pair that is rotated. Others pair column i
// with column i + d / 2, and rotate by the same angle (Llama in Hugging Face's transformers). W_Q
// and W_K that were learned with one layout work with the other only if their columns are moved.
//
// 1. rotated_halves: columns i and i + d / 2 of the row at position m, for i from 0 to d / 2 - 1,
//    are a point (a, b), which is rotated by the angle t = m / 10000^(2i / d):
//      (a, b)  becomes  (a cos t - b sin t, a sin t + b cos t)
//    x        (length, d), d even; its rows stand at positions first, first + 1, ...
//    ->       (length, d)
// 2. columns_for_halves: W_Q or W_K, learned with neighbours as pairs, its columns moved so that
//    scores with rotated_halves are those that it gave with neighbours. Each head has d columns of
//    its own, those of head 0 first. In each head column 2i goes to i, and column 2i + 1 to
//    i + d / 2.
//    w        (d_model, heads d)
//    heads    how many heads there are
//    ->       (d_model, heads d)
//
// (Files of weights often keep a map the other way round, (out, in): these columns are its rows.)
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "71 What changed since 2017"
#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor rotated_halves(const Tensor& x, Index first) {
  // Yours.
  not_written_yet();
}

Tensor columns_for_halves(const Tensor& w, Index heads) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
