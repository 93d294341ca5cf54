// Layer normalisation over the last axis.
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (x.ndim() < 1 || weight.shape() != Shape{x.size(-1)} || bias.shape() != weight.shape()) {
    throw Error("layer_norm: x is " + to_string(x.shape()) + ", weight is " +
                to_string(weight.shape()) + ", bias is " + to_string(bias.shape()) +
                ": weight and bias must have one axis, as long as x's last.");
  }
  if (!(eps >= 0 && std::isfinite(eps))) {
    throw Error("layer_norm: eps is " + exact_text(eps) + ", but must be a number of 0 or more.");
  }
  const Index n = x.size(-1), rows = rows_in(x);
  // (..., n), (n), (n)
  const Tensor input = x.contiguous(), g = weight.contiguous(), b = bias.contiguous();
  const Tensor y = Tensor::empty(x.shape());  // (..., n)
  // (rows, 2), (rows)
  const Tensor centre = Tensor::empty({rows, 2}), inverse = Tensor::empty({rows});
  kernels::layer_norm(raw(input), raw(g), raw(b), static_cast<real>(eps), raw(y), raw(centre),
                      raw(inverse), rows, n);
  return Tape::record("layer_norm", {x, weight, bias}, y,
                      [x = Tape::save(input), weight = Tape::save(g), centre = Tape::save(centre),
                       inverse = Tape::save(inverse), rows, n](const Tensor& dy, GradientSink& to) {
                        const Tensor dense = dy.contiguous();        // (..., n)
                        const Tensor dx = Tensor::empty(x.shape());  // (..., n)
                        // (n) each
                        const Tensor d_weight = Tensor::zeros({n}), d_bias = Tensor::zeros({n});
                        kernels::layer_norm_backward(raw(dense), raw(x), raw(weight), raw(centre),
                                                     raw(inverse), raw(dx), raw(d_weight),
                                                     raw(d_bias), rows, n);
                        to.accumulate(0, dx);
                        to.accumulate(1, d_weight);
                        to.accumulate(2, d_bias);
                      });
}

}  // namespace tapestry
