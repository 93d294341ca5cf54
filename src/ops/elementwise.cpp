// Functions of each element: sqrt exp log sin cos tanh erf sigmoid softplus relu elu gelu.
#include <cmath>
#include <numbers>

#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

Tensor sqrt(const Tensor& x) {
  const Tensor y = apply(active().sqrt, x);
  return Tape::record("sqrt", {x}, y, [y = Tape::save(y)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy / (2 * y));
  });
}

Tensor exp(const Tensor& x) {
  const Tensor y = apply(active().exp, x);
  return Tape::record("exp", {x}, y, [y = Tape::save(y)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy * y);
  });
}

Tensor log(const Tensor& x) {
  return Tape::record(
      "log", {x}, apply(active().log, x),
      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy / x); });
}

Tensor sin(const Tensor& x) {
  return Tape::record(
      "sin", {x}, apply(active().sin, x),
      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy * cos(x)); });
}

Tensor cos(const Tensor& x) {
  return Tape::record("cos", {x}, apply(active().cos, x),
                      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, -(dy * sin(x)));
                      });
}

Tensor erf(const Tensor& x) {
  return Tape::record("erf", {x}, apply(active().erf, x),
                      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
                        const double scale = 2 / std::sqrt(std::numbers::pi);
                        to.accumulate(0, dy * exp(-(x * x)) * scale);
                      });
}

namespace {

// A function whose slope is known from its output y ...
Tensor by_output(const char* name, const Tensor& x, kernels::Unary forward,
                 kernels::UnaryBackward backward) {
  const Tensor y = apply(forward, x);
  return Tape::record(name, {x}, y,
                      [y = Tape::save(y), backward](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, apply(backward, dy, y));
                      });
}

// ... or from its input x.
Tensor by_input(const char* name, const Tensor& x, kernels::Unary forward,
                kernels::UnaryBackward backward) {
  return Tape::record(name, {x}, apply(forward, x),
                      [x = Tape::save(x), backward](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, apply(backward, dy, x));
                      });
}

}  // namespace

Tensor tanh(const Tensor& x) { return by_output("tanh", x, active().tanh, active().tanh_backward); }

Tensor sigmoid(const Tensor& x) {
  return by_output("sigmoid", x, active().sigmoid, active().sigmoid_backward);
}

Tensor relu(const Tensor& x) { return by_output("relu", x, active().relu, active().relu_backward); }

Tensor elu(const Tensor& x) { return by_output("elu", x, active().elu, active().elu_backward); }

Tensor softplus(const Tensor& x) {
  return by_input("softplus", x, active().softplus, active().softplus_backward);
}

Tensor gelu(const Tensor& x) { return by_input("gelu", x, active().gelu, active().gelu_backward); }

Tensor gelu_tanh(const Tensor& x) {
  return by_input("gelu_tanh", x, active().gelu_tanh, active().gelu_tanh_backward);
}

}  // namespace tapestry
