// 35a. Rollout
//
// Over several layers, how much of each word reaches each position? Rollout counts it from the
// weights alone. A layer passes on half of what its heads bring, in the mean, and half of what
// stood there before (the residual connection); layers are multiplied:
//
//   A_l = mean over the heads of the weights of layer l         (n, n)
//   M_l = (A_l + I) / 2,  then each row divided by its sum      (n, n)
//   result = M_last ... M_1 M_0                                 (n, n)
//
//   layers  layer 0 first, each (heads, n, n)
//   ->      (n, n), rows sum to 1
//
// Where dropout took weights away, a row of A sums to less than 1; the division mends it. I is the
// identity, Tensor::eye(n). mean(x, 0) is the mean over the first axis, sum(x, -1, true) the sums
// of the rows as (n, 1), matmul(a, b) the product.
// Lesson: tutorials/phase3_seeing/README.md, 35 Through two layers
#include "phase3.hpp"

namespace learn {

Tensor rolled_out(const std::vector<Tensor>& layers) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
