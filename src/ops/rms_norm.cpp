// Root mean square normalisation over the last axis.
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  if (x.ndim() < 1 || weight.shape() != Shape{x.size(-1)}) {
    throw Error("rms_norm: x is " + to_string(x.shape()) + ", weight is " +
                to_string(weight.shape()) +
                ": the weight must have one axis, as long as x's last.");
  }
  if (!(eps >= 0 && std::isfinite(eps))) {
    throw Error("rms_norm: eps is " + exact_text(eps) + ", but must be a number of 0 or more.");
  }
  const Index n = x.size(-1), rows = rows_in(x);
  const Tensor input = x.contiguous(), w = weight.contiguous();                // (..., n), (n)
  const Tensor y = Tensor::empty(x.shape()), inverse = Tensor::empty({rows});  // (..., n), (rows)
  kernels::rms_norm(raw(input), raw(w), static_cast<real>(eps), raw(y), raw(inverse), rows, n);
  return Tape::record("rms_norm", {x, weight}, y,
                      [x = Tape::save(input), weight = Tape::save(w), inverse = Tape::save(inverse),
                       rows, n](const Tensor& dy, GradientSink& to) {
                        const Tensor dense = dy.contiguous();  // (..., n)
                        // (..., n), (n)
                        const Tensor dx = Tensor::empty(x.shape()), d_weight = Tensor::zeros({n});
                        kernels::rms_norm_backward(raw(dense), raw(x), raw(weight), raw(inverse),
                                                   raw(dx), raw(d_weight), rows, n);
                        to.accumulate(0, dx);
                        to.accumulate(1, d_weight);
                      });
}

}  // namespace tapestry
