// 48a. One word more, with a cache
//
// A head under the causal mask reads a text word by word. What it computed for earlier words cannot
// change, so it keeps their keys and values. For a new word x, at position t (0 for the first):
//
//   h = x + positions_t
//   q = h w_q     k = h w_k     v = h w_v
//   k and v are kept, behind those of earlier words
//   output = softmax(q . k_j / sqrt(d) over all words j kept, the new one included) times their v_j
//
//   head.positions      (most words, d)
//   head.w_q, w_k, w_v  (d, d)
//   x                   (d)
//   kept.keys, kept.values  what was kept, (d) of each word; empty at first
//   ->                  (d), and kept has one word more
//
// t is not handed over: what is kept tells it. slice(head.positions, 0, t, t + 1) is a row (1, d),
// squeeze(row, 0) makes (d) of it, unsqueeze(x, 0) makes (1, d); stack(kept.keys, 0) makes (words,
// d). Or write loops.
// Lesson: tutorials/phase4_causal/README.md, 48 The cache
#include "phase4.hpp"

namespace learn {

Tensor cached_attention(const CachedHead& head, const Tensor& x, KeptWords& kept) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
