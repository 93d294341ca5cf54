// 38a. A head cut out
//
// What does a model lose without one head? Its output is replaced before W_O joins the heads, by
// zeros or by its mean (step 29). The mean says the same whatever the text is: at each position and
// in each column it is the mean over the batch. So only what the head says about this text is gone.
//
//   outputs       (batch, heads, n, d)
//   head_to_zero  (batch, heads, n, d): 0 for this head, the others as they are
//   head_to_mean  (batch, heads, n, d): for this head
//                 result_b,head,i,c = (sum over all a of outputs_a,head,i,c) / batch
//
// Write both. outputs.clone() is a copy that may be changed; the outputs themselves must stay as
// they are. Heads are counted from 0. x.at({b, h, i, c}) reads a number, x.set(...) writes it.
// Lesson: tutorials/phase3_seeing/README.md, 38 Losses that do not add up
#include "phase3.hpp"

namespace learn {

Tensor head_to_zero(const Tensor& outputs, Index head) {
  // Yours.
  not_written_yet();
}

Tensor head_to_mean(const Tensor& outputs, Index head) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
