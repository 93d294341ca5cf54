// 6da. The gradient of attention without its weights
//
// The forward pass of attention by tiles kept no weights, only the output O and one number for each
// query i: L_i = log(sum over j of exp(q_i . k_j)). (q is divided by sqrt(d) already, so nothing is
// divided here.) The gradient dO of the output arrives. For a tile of queries and a tile of keys
// there are small matrices, (queries of the tile, keys of the tile):
//
//   S = Q K^T       P = exp(S - L)       dP = dO V^T       dS = P o (dP - D)
//
// where o multiplies number by number, and D_i = dO_i . O_i, one number per query. The tile adds
//
//   dS K  to the rows of dQ       dS^T Q  to the rows of dK       P^T dO  to the rows of dV
//
//   q, k, v, output, d_output   (length, d) each
//   log_sums                    L, (length)
//   tile                        so many queries, and so many keys, in a tile; it divides length
//   ->                          TiledGradients (phase6.hpp)
//
// slice(x, 0, begin, end) has the rows from begin to before end, unsqueeze(y, 1) makes a column of
// a vector, concat(list, 0) puts a std::vector of tiles one below the other.
// Lesson: tutorials/phase6_every_attention/3_less_memory.md, section 6d
#include <vector>

#include "phase6.hpp"

namespace learn {

TiledGradients tiles_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Tensor& output, const Tensor& log_sums, const Tensor& d_output,
                              Index tile) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
