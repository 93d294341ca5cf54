// 41a. The causal mask
//
// Query i stands at position offset + i of a text whose keys are at 0, 1, 2, ... It may attend to
// every key up to its own position, that one included, and to none behind it:
//
//   mask_ij = 1  where key j may be seen by query i
//             0  where it may not
//
//   ->  (queries, keys)
//
// The offset is not 0 when earlier words were read before (the cache of step 48): with offset 2,
// query 0 is the third word. There may be more keys than the last query sees.
// Tensor::zeros({queries, keys}) makes a tensor, mask.set({i, j}, 1) writes a number.
// Lesson: tutorials/phase4_causal/README.md, 41 The mask
#include "phase4.hpp"

namespace learn {

Tensor causal_mask(Index queries, Index keys, Index offset) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
