// Functions of each element: sqrt exp log sin cos tanh erf sigmoid softplus relu elu gelu gelu_tanh
// mish silu abs sign floor ceil round. (...) is the shape of x.
#include <cmath>
#include <numbers>

#include "ops/activation.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

Tensor sqrt(const Tensor& x) {
  const Tensor y = apply(active().of<kernels::Sqrt>(), x);  // (...)
  return Tape::record("sqrt", {x}, y, [y = Tape::save(y)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy / (2 * y));  // (...)
  });
}

Tensor exp(const Tensor& x) {
  const Tensor y = apply(active().of<kernels::Exp>(), x);  // (...)
  return Tape::record("exp", {x}, y, [y = Tape::save(y)](const Tensor& dy, GradientSink& to) {
    to.accumulate(0, dy * y);  // (...)
  });
}

Tensor log(const Tensor& x) {
  return Tape::record(
      "log", {x}, apply(active().of<kernels::Log>(), x),  // (...)
      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy / x); });
}

Tensor sin(const Tensor& x) {
  return Tape::record(
      "sin", {x}, apply(active().of<kernels::Sin>(), x),  // (...)
      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy * cos(x)); });
}

Tensor cos(const Tensor& x) {
  return Tape::record("cos", {x}, apply(active().of<kernels::Cos>(), x),  // (...)
                      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, -(dy * sin(x)));  // (...)
                      });
}

Tensor erf(const Tensor& x) {
  return Tape::record("erf", {x}, apply(active().of<kernels::Erf>(), x),  // (...)
                      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
                        const double scale = 2 / std::sqrt(std::numbers::pi);
                        to.accumulate(0, dy * exp(-(x * x)) * scale);  // (...)
                      });
}

namespace {

// A function with a kernel of its own for the gradient, which reads the output or the input.
template <class F>
Tensor elementwise(const Tensor& x) {
  const Tensor y = apply(active().of<F>(), x);  // (...)
  const kernels::UnaryBackward backward = active().backward_of<F>();
  return Tape::record(
      F::name, {x}, y,
      [saved = Tape::save(F::saves_output ? y : x), backward](const Tensor& dy, GradientSink& to) {
        to.accumulate(0, apply(backward, dy, saved));  // (...)
      });
}

// A function of steps: its gradient is 0, also where it jumps.
template <class F>
Tensor steps(const Tensor& x) {
  const Tensor y = apply(active().of<F>(), x);  // (...)
  return Tape::record(F::name, {x}, y, [](const Tensor&, GradientSink&) {});
}

}  // namespace

Tensor abs(const Tensor& x) { return elementwise<kernels::Abs>(x); }
Tensor tanh(const Tensor& x) { return elementwise<kernels::Tanh>(x); }
Tensor sigmoid(const Tensor& x) { return elementwise<kernels::Sigmoid>(x); }
Tensor relu(const Tensor& x) { return elementwise<kernels::Relu>(x); }
Tensor elu(const Tensor& x) { return elementwise<kernels::Elu>(x); }
Tensor softplus(const Tensor& x) { return elementwise<kernels::Softplus>(x); }
Tensor gelu(const Tensor& x) { return elementwise<kernels::Gelu>(x); }
Tensor gelu_tanh(const Tensor& x) { return elementwise<kernels::GeluTanh>(x); }
Tensor mish(const Tensor& x) { return elementwise<kernels::Mish>(x); }
Tensor silu(const Tensor& x) { return elementwise<kernels::Silu>(x); }

Tensor activated(const Tensor& x, Activation activation) {
  return with_function(activation, x, [&]<class F>(F) { return elementwise<F>(x); });  // (...)
}

Tensor sign(const Tensor& x) { return steps<kernels::Sign>(x); }
Tensor floor(const Tensor& x) { return steps<kernels::Floor>(x); }
Tensor ceil(const Tensor& x) { return steps<kernels::Ceil>(x); }
Tensor round(const Tensor& x) { return steps<kernels::Round>(x); }

}  // namespace tapestry
