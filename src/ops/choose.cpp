// where, masked_fill, clamp, maximum, minimum.
#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

namespace {

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast_shapes("where (a: the condition, b: what it chooses from)", condition.shape(),
                       broadcast_shapes("where", a.shape(), b.shape()));
  Tensor y = Tensor::empty(shape);
  const Tensor c = broadcast_view(condition, shape);
  const Tensor left = broadcast_view(a, shape), right = broadcast_view(b, shape);
  kernels::select(sizes(shape), raw(c), c.strides().data(), raw(left), left.strides().data(),
                  raw(right), right.strides().data(), raw(y));
  return y;
}

// 1 where a wins the comparison, 1/2 where a and b are equal, 0 where b wins.
Tensor share(const Tensor& winner, const Tensor& a, const Tensor& b) {
  return winner + 0.5 * apply("compare", active().of<kernels::Equal>(), a, b);
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Tensor y = select(condition, a, b);
  return Tape::record("where", {a, b}, y,
                      [condition = Tape::save(condition)](const Tensor& dy, GradientSink& to) {
                        if (to.needs_gradient(0)) to.accumulate(0, select(condition, dy, 0));
                        if (to.needs_gradient(1)) to.accumulate(1, select(condition, 0, dy));
                      });
}

Tensor masked_fill(const Tensor& x, const Tensor& condition, double value) {
  if (!broadcasts_to(condition.shape(), x.shape())) {
    throw Error("masked_fill: x is " + to_string(x.shape()) + ", condition is " +
                to_string(condition.shape()) + ": the condition must broadcast to x's shape.");
  }
  return where(condition, value, x);
}

Tensor clamp(const Tensor& x, double low, double high) {
  if (!(low <= high)) {
    throw Error("clamp: low is " + exact_text(low) + ", high is " + exact_text(high) +
                ": low must not be above high.");
  }
  const Tensor raised = apply("clamp", active().of<kernels::Maximum>(), x, low);
  return Tape::record("clamp", {x}, apply("clamp", active().of<kernels::Minimum>(), raised, high),
                      [x = Tape::save(x), low, high](const Tensor& dy, GradientSink& to) {
                        const Tensor below = apply("clamp", active().of<kernels::Less>(), x, low);
                        const Tensor above = apply("clamp", active().of<kernels::Less>(), high, x);
                        to.accumulate(0, select(below + above, 0, dy));
                      });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  const Tensor y = apply("maximum", active().of<kernels::Maximum>(), a, b);
  return Tape::record("maximum", {a, b}, y,
                      [a = Tape::save(a), b = Tape::save(b)](const Tensor& dy, GradientSink& to) {
                        const Tensor a_wins = apply("maximum", active().of<kernels::Less>(), b, a);
                        const Tensor b_wins = apply("maximum", active().of<kernels::Less>(), a, b);
                        if (to.needs_gradient(0)) to.accumulate(0, dy * share(a_wins, a, b));
                        if (to.needs_gradient(1)) to.accumulate(1, dy * share(b_wins, a, b));
                      });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  const Tensor y = apply("minimum", active().of<kernels::Minimum>(), a, b);
  return Tape::record("minimum", {a, b}, y,
                      [a = Tape::save(a), b = Tape::save(b)](const Tensor& dy, GradientSink& to) {
                        const Tensor a_wins = apply("minimum", active().of<kernels::Less>(), a, b);
                        const Tensor b_wins = apply("minimum", active().of<kernels::Less>(), b, a);
                        if (to.needs_gradient(0)) to.accumulate(0, dy * share(a_wins, a, b));
                        if (to.needs_gradient(1)) to.accumulate(1, dy * share(b_wins, a, b));
                      });
}

}  // namespace tapestry
