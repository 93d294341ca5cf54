// 16a. The gradient of attention: values and weights
//
// Attention ends with a mixture, output = weights v. The gradient of the loss by the output
// arrives. Which gradients do the weights and the values get? In
//
//   output_ic = sum over j of weights_ij v_jc
//
// each weight is a factor beside a value, in every column c; and each value is a factor beside a
// weight, in every row i. What a number does to the loss is the sum over all places where it is a
// factor:
//
//   dweights_ij = sum over c of doutput_ic v_jc
//   dvalues_jc  = sum over i of weights_ij doutput_ic
//
//   weights    (n, n)     n queries, n keys
//   values     (n, d)
//   doutput    (n, d)
//   ->         MixtureGradients with dweights (n, n) and dvalues (n, d): return {a, b};
//
// Write it with loops or with matrix products, without a Tape.
// Lesson: tutorials/phase1_one_head/README.md, "16 The way back: gradients by hand"
#include "phase1.hpp"

namespace learn {

MixtureGradients mixture_backward(const Tensor& weights, const Tensor& values,
                                  const Tensor& doutput) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
