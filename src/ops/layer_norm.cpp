// Layer normalisation over the last axis.
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/unrecorded.hpp"

namespace tapestry {

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  if (x.rank() < 1 || gain.shape() != Shape{x.size(-1)} || bias.shape() != gain.shape()) {
    throw Error("layer_norm: x is " + to_string(x.shape()) + ", gain is " +
                to_string(gain.shape()) + ", bias is " + to_string(bias.shape()) +
                ": gain and bias must have one axis, as long as x's last.");
  }
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    throw Error("layer_norm: epsilon is " + std::to_string(epsilon) +
                ", but must be a number of 0 or more.");
  }
  const Index n = x.size(-1), rows = n == 0 ? 0 : x.count() / n;
  const Tensor input = x.contiguous(), g = gain.contiguous(), b = bias.contiguous();
  const Tensor y = Tensor::uninitialised(x.shape());
  const Tensor centre = Tensor::uninitialised({rows, 2}), inverse = Tensor::uninitialised({rows});
  kernels::layer_norm(input.data(), g.data(), b.data(), static_cast<real>(epsilon), y.data(),
                      centre.data(), inverse.data(), rows, n);
  return Tape::record("layer_norm", {x, gain, bias}, y,
                      [x = Tape::save(input), gain = Tape::save(g), centre = Tape::save(centre),
                       inverse = Tape::save(inverse), rows, n](const Tensor& dy, Gate& to) {
                        const Tensor dense = dy.contiguous();
                        const Tensor dx = Tensor::uninitialised(x.shape());
                        const Tensor d_gain = Tensor::zeros({n}), d_bias = Tensor::zeros({n});
                        kernels::layer_norm_backward(dense.data(), x.data(), gain.data(),
                                                     centre.data(), inverse.data(), dx.data(),
                                                     d_gain.data(), d_bias.data(), rows, n);
                        to.give(0, dx);
                        to.give(1, d_gain);
                        to.give(2, d_bias);
                      });
}

}  // namespace tapestry
