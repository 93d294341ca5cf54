// argmax argmin topk hardmax: where the largest numbers along an axis stand.
#include <limits>

#include "kernels/axis.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

// x as (outer, length, inner) around one axis.
struct Along : Around {
  Tensor x;
  int axis;

  Along(const char* operation, const Tensor& any, int which)
      : x(any.contiguous()), axis(normalized_axis(operation, which, any.ndim())) {
    static_cast<Around&>(*this) = around(x.shape(), axis);
    if (length > std::numeric_limits<std::int32_t>::max()) {
      throw Error(std::string(operation) + ": axis " + std::to_string(which) + " has " +
                  std::to_string(length) + " elements, more than an index can name.");
    }
  }
};

Indices arg_extreme(const char* operation, const Tensor& x, int axis, bool keepdims, bool largest) {
  const Along a(operation, x, axis);
  if (a.length == 0 && a.outer * a.inner > 0) {
    throw Error(std::string(operation) + ": x is " + to_string(x.shape()) + ": axis " +
                std::to_string(axis) + " is empty, so that none is the " +
                (largest ? "largest." : "smallest."));
  }
  const Shape shape = keepdims ? x.shape().with(a.axis, 1) : x.shape().removed(a.axis);
  std::vector<std::int32_t> places(static_cast<std::size_t>(shape.numel()));
  kernels::arg_extreme(raw(a.x), a.outer, a.length, a.inner, largest, places.data());
  return {shape, std::move(places)};
}

}  // namespace

Indices argmax(const Tensor& x, int axis, bool keepdims) {
  return arg_extreme("argmax", x, axis, keepdims, true);
}

Indices argmin(const Tensor& x, int axis, bool keepdims) {
  return arg_extreme("argmin", x, axis, keepdims, false);
}

TopK topk(const Tensor& x, Index k, int axis, bool largest) {
  const Along a("topk", x, axis);
  if (k < 0 || k > a.length) {
    throw Error("topk: x is " + to_string(x.shape()) + ": there are no " + std::to_string(k) +
                " elements to choose along axis " + std::to_string(axis) + ", which has " +
                std::to_string(a.length) + ".");
  }
  const Shape shape = x.shape().with(a.axis, k);
  std::vector<std::int32_t> places(static_cast<std::size_t>(shape.numel()));
  kernels::topk(raw(a.x), a.outer, a.length, a.inner, k, largest, places.data());
  const Indices indices(shape, std::move(places));
  return {gather(x, axis, indices), indices};
}

Tensor hardmax(const Tensor& x, int axis) {
  const Along a("hardmax", x, axis);
  const Tensor y = Tensor::zeros(x.shape());
  if (x.numel() > 0) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(a.outer * a.inner));
    kernels::arg_extreme(raw(a.x), a.outer, a.length, a.inner, true, places.data());
    const Tensor ones = Tensor::ones({a.outer * a.inner});
    kernels::scatter_add(raw(ones), a.outer, a.length, a.inner, places.data(), 1, raw(y));
  }
  return Tape::record("hardmax", {x}, y, [](const Tensor&, GradientSink&) {});  // it is flat
}

}  // namespace tapestry
