// 76a. A map with a low-rank adapter
//
// A trained map W is to learn something new by few numbers (LoRA; Hu et al. 2021). W stays as it
// is. Beside it stand two thin matrices, A and B, which learn; what they make is added:
//
//   y = x W + (alpha / rank) (x A) B
//
// A B has as many numbers as W, so it is not made: x goes through A first, to `rank` numbers a row,
// and then through B. alpha is chosen once; the division by the rank is meant to keep what is
// added of a similar size when another rank is tried.
//
//   x           (n, in)
//   map.w       (in, out)
//   map.a       (in, rank)      map.b       (rank, out)
//   map.alpha   a number
//   ->          (n, out)
// Lesson: tutorials/phase7_real_models/3_training.md, "76 Adapters"
#include "phase7.hpp"

namespace learn {

Tensor adapted(const Tensor& x, const AdaptedMap& map) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
