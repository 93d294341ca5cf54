// 78a. What a head says for one token against another
//
// A head writes into the residual stream. At the end a norm and the unembedding make logits of it.
// How much of the difference logit(token) - logit(against), at the last position, did each head
// write there itself? On that way only the norm's scale is not linear. It is held at the value that
// it has for the whole stream in this text. So the contributions of all parts add up:
//
//   mixed_h   = sum over keys j of weights_h(last, j) values_h(j)                        (d)
//   written_h = mixed_h times the d rows of w_o that belong to head h                    (d_model)
//   scale     = 1 / sqrt(mean of stream(last)^2 + eps)                                   a number
//   result_h  = sum over c of written_h(c) scale gain(c) (unembedding(c, token)
//                                                         - unembedding(c, against))
//
//   layer.weights   (heads, n, n), queries by keys
//   layer.values    (heads, n, d)
//   layer.w_o       (heads d, d_model): the d rows of head 0, then those of head 1, ...
//   layer.b_o       (d_model), added once to what all heads write together: it is no head's
//   end.stream      (n, d_model), read by the last norm: what all parts have written
//   end.gain        (d_model)                           end.eps     of that norm
//   end.unembedding (d_model, tokens)
//   token, against  two ids
//   ->              (heads)
//
// The types stand in phase7.hpp. With loops, or with slice, matmul and sum.
// Lesson: tutorials/phase7_real_models/2_a_real_model.md, "78 Heads cut, alone and together"
#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor direct_contributions(const SeenAttention& layer, const ModelEnd& end, Index token,
                            Index against) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
