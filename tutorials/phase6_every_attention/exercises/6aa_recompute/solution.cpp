#include "phase6.hpp"

namespace learn {

SegmentGradients segment_backward(const Tensor& input, const Tensor& w1, const Tensor& w2,
                                  const Tensor& d_output) {
  const Tensor t1 = tanh(matmul(input, w1));  // (n, d): computed again
  const Tensor h = input + t1;                // (n, d)
  const Tensor t2 = tanh(matmul(h, w2));      // (n, d)

  const Tensor dz2 = d_output * (1 - t2 * t2);              // (n, d)
  const Tensor dh = d_output + matmul(dz2, transpose(w2));  // (n, d)
  const Tensor dz1 = dh * (1 - t1 * t1);                    // (n, d)

  SegmentGradients gradients;
  gradients.input = dh + matmul(dz1, transpose(w1));  // (n, d)
  gradients.w1 = matmul(transpose(input), dz1);       // (d, d)
  gradients.w2 = matmul(transpose(h), dz2);           // (d, d)
  return gradients;
}

}  // namespace learn
