// a + b, a - b, a * b, a / b, -x, pow, atan2. (...) is the shape to which a and b broadcast; the
// sink sums a gradient of this shape to that of its input.
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

Tensor operator+(const Tensor& a, const Tensor& b) {
  return Tape::record("add", {a, b}, apply("add", active().of<kernels::Add>(), a, b),  // (...)
                      [](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, dy);
                        to.accumulate(1, dy);
                      });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return Tape::record("subtract", {a, b}, apply("subtract", active().of<kernels::Subtract>(), a, b),
                      [](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, dy);
                        if (to.needs_gradient(1)) to.accumulate(1, -dy);  // (...)
                      });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  const Tensor y = apply("multiply", active().of<kernels::Multiply>(), a, b);  // (...)
  return Tape::record("multiply", {a, b}, y,
                      [a = Tape::save(a), b = Tape::save(b)](const Tensor& dy, GradientSink& to) {
                        if (to.needs_gradient(0)) to.accumulate(0, dy * b);  // (...)
                        if (to.needs_gradient(1)) to.accumulate(1, dy * a);  // (...)
                      });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  const Tensor y = apply("divide", active().of<kernels::Divide>(), a, b);  // (...)
  return Tape::record("divide", {a, b}, y,
                      [y = Tape::save(y), b = Tape::save(b)](const Tensor& dy, GradientSink& to) {
                        const Tensor da = dy / b;  // (...)
                        to.accumulate(0, da);
                        if (to.needs_gradient(1)) to.accumulate(1, -(da * y));  // -dy a / b^2
                      });
}

Tensor operator-(const Tensor& x) {
  return Tape::record("negate", {x}, apply(active().of<kernels::Negate>(), x),             // (...)
                      [](const Tensor& dy, GradientSink& to) { to.accumulate(0, -dy); });  // (...)
}

Tensor pow(const Tensor& a, const Tensor& b) {
  const Tensor y = apply("pow", active().of<kernels::Power>(), a, b);  // (...)
  return Tape::record(
      "pow", {a, b}, y,
      [a = Tape::save(a), b = Tape::save(b), y = Tape::save(y)](const Tensor& dy,
                                                                GradientSink& to) {
        if (to.needs_gradient(0)) {  // b a^(b - 1), and 0 for b = 0 even at a = 0
          to.accumulate(0, where(b, dy * b * pow(a, b - 1), 0));  // (...)
        }
        if (to.needs_gradient(1)) {  // y ln a; its limit 0 where y is 0, and 0 for 0 to the power 0
          const Tensor log_a = where(a, log(a), where(b, log(a), 0));  // (...)
          to.accumulate(1, where(y, dy * y * log_a, 0));               // (...)
        }
      });
}

Tensor atan2(const Tensor& y, const Tensor& x) {
  return Tape::record("atan2", {y, x}, apply("atan2", active().of<kernels::Atan2>(), y, x),
                      [y = Tape::save(y), x = Tape::save(x)](const Tensor& dy, GradientSink& to) {
                        const Tensor share = dy / (x * x + y * y);                 // (...)
                        if (to.needs_gradient(0)) to.accumulate(0, share * x);     // (...)
                        if (to.needs_gradient(1)) to.accumulate(1, -(share * y));  // (...)
                      });
}

}  // namespace tapestry
