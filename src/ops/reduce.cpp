// sum, mean, var, prod, max, min over any axes.
#include <algorithm>

#include "kernels/axis.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

Axes::Axes(std::span<const int> axes) : count(static_cast<int>(axes.size())) {
  if (axes.size() > list.size()) {
    throw Error("axes: " + std::to_string(axes.size()) + " given, but a tensor has at most " +
                std::to_string(list.size()) + ".");
  }
  std::copy(axes.begin(), axes.end(), list.begin());
}

namespace {

struct Reduction {
  std::array<bool, Shape::max_ndim> reduced{};
  Shape kept;      // x's shape with 1 for the reduced axes
  Shape squeezed;  // without them
  Index count;     // elements reduced to one
};

Reduction plan(const char* operation, const Shape& shape, const Axes& axes) {
  Reduction plan{{}, shape, shape, 1};
  for (int i = 0; i < axes.count; ++i) {
    const int axis =
        normalized_axis(operation, axes.list[static_cast<std::size_t>(i)], shape.ndim());
    bool& reduced = plan.reduced[static_cast<std::size_t>(axis)];
    if (reduced) {
      throw Error(std::string(operation) + ": axis " + std::to_string(axis) + " is named twice.");
    }
    reduced = true;
  }
  if (axes.count < 0) std::fill_n(plan.reduced.begin(), shape.ndim(), true);
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    const Index size = shape[axis];
    if (!plan.reduced[static_cast<std::size_t>(axis)]) continue;
    plan.count *= size;
    plan.kept = plan.kept.with(axis, 1);
    plan.squeezed = plan.squeezed.removed(axis);
  }
  return plan;
}

// The axes of x, those that stay first.
struct ReducedLast {
  std::array<int, Shape::max_ndim> order{}, inverse{};
  std::size_t count = 0;

  ReducedLast(const Reduction& plan, int ndim) {
    for (const bool last : {false, true}) {
      for (int axis = 0; axis < ndim; ++axis) {
        if (plan.reduced[static_cast<std::size_t>(axis)] != last) continue;
        inverse[static_cast<std::size_t>(axis)] = static_cast<int>(count);
        order[count++] = axis;
      }
    }
  }
  // (axes that stay, reduced axes)
  Tensor apply_to(const Tensor& x) const { return permuted_view(x, {order.data(), count}); }
  // x's shape
  Tensor undone(const Tensor& y) const { return permuted_view(y, {inverse.data(), count}); }
};

// Runs the kernel over x; the result has the shape plan.kept.
Tensor run(kernels::Reduce kernel, const Tensor& x, const Reduction& plan) {
  const auto* const all = plan.reduced.end();
  const auto* const end = std::find(std::find(plan.reduced.begin(), all, true), all, false);
  const bool adjacent = std::find(end, all, true) == all;
  Tensor ordered = x;
  Index inner = 1;
  if (adjacent) {
    for (auto axis = end - plan.reduced.begin(); axis < x.ndim(); ++axis) {
      inner *= x.size(static_cast<int>(axis));
    }
  } else {
    ordered = ReducedLast(plan, x.ndim()).apply_to(x);  // (axes that stay, reduced axes)
  }
  ordered = ordered.contiguous();       // seen as (outer, plan.count, inner)
  Tensor y = Tensor::empty(plan.kept);  // plan.kept, seen as (outer, inner)
  const Index outer = inner == 0 ? 0 : y.numel() / inner;
  kernels::reduce(kernel, raw(ordered), outer, plan.count, inner, raw(y));
  return y;
}

Tensor reshaped(const Tensor& y, const Shape& shape) {
  return y.as_strided(shape, row_major(shape), y.offset());
}

Tensor extreme(const char* name, kernels::Reduce kernel, const Tensor& x, const Axes& axes,
               bool keepdims) {
  const Reduction reduction = plan(name, x.shape(), axes);
  const Tensor y = run(kernel, x, reduction);  // reduction.kept
  return Tape::record(
      name, {x}, keepdims ? y : reshaped(y, reduction.squeezed),
      [x = Tape::save(x), y = Tape::save(y), axes](const Tensor& dy, GradientSink& to) {
        const Tensor is_extreme = apply("max", active().of<kernels::Equal>(), x, y);  // x's shape
        const Tensor ties = sum(is_extreme, axes, true);  // reduction.kept
        to.accumulate(0, is_extreme * (reshaped(dy.contiguous(), y.shape()) / ties));  // x's shape
      });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdims) {
  const Reduction reduction = plan("sum", x.shape(), axes);
  const Tensor y = run(active().sum, x, reduction);  // reduction.kept
  return Tape::record(
      "sum", {x}, keepdims ? y : reshaped(y, reduction.squeezed),
      [shape = x.shape(), kept = reduction.kept](const Tensor& dy, GradientSink& to) {
        to.accumulate(0, broadcast_view(reshaped(dy.contiguous(), kept), shape));  // x's shape
      });
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdims) {
  const Reduction reduction = plan("mean", x.shape(), axes);
  // The mean of nothing is 0 times infinity: NaN.
  const double share = 1 / static_cast<double>(reduction.count);
  const Tensor y =
      // reduction.kept
      apply("mean", active().of<kernels::Multiply>(), run(active().sum, x, reduction), share);
  return Tape::record(
      "mean", {x}, keepdims ? y : reshaped(y, reduction.squeezed),
      [shape = x.shape(), kept = reduction.kept, share](const Tensor& dy, GradientSink& to) {
        // x's shape
        to.accumulate(0, broadcast_view(reshaped((dy * share).contiguous(), kept), shape));
      });
}

Tensor var(const Tensor& x, const Axes& axes, bool keepdims) {
  const Tensor centred = x - mean(x, axes, true);  // x's shape
  return mean(centred * centred, axes, keepdims);  // x's shape without the axes, or with 1 for each
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdims) {
  const Reduction reduction = plan("prod", x.shape(), axes);
  const Tensor y = run(active().prod, x, reduction);  // reduction.kept
  return Tape::record("prod", {x}, keepdims ? y : reshaped(y, reduction.squeezed),
                      [x = Tape::save(x), reduction](const Tensor& dy, GradientSink& to) {
                        const ReducedLast last(reduction, x.ndim());
                        // (axes that stay, reduced axes); dy's shape
                        const Tensor runs = last.apply_to(x).contiguous(), up = dy.contiguous();
                        const Tensor dx = Tensor::empty(runs.shape());  // runs' shape
                        kernels::prod_backward(raw(up), raw(runs), up.numel(), reduction.count, 1,
                                               raw(dx));
                        to.accumulate(0, last.undone(dx));  // x's shape
                      });
}

Tensor max(const Tensor& x, const Axes& axes, bool keepdims) {
  return extreme("max", active().max, x, axes, keepdims);
}

Tensor min(const Tensor& x, const Axes& axes, bool keepdims) {
  return extreme("min", active().min, x, axes, keepdims);
}

}  // namespace tapestry
