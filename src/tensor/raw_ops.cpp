#include "tensor/raw_ops.hpp"

#include <algorithm>

#include "tapestry/error.hpp"

namespace tapestry {

kernels::Sizes sizes(const Shape& shape) {
  kernels::Sizes sizes{shape.ndim(), {}};
  std::copy(shape.begin(), shape.end(), sizes.size);
  return sizes;
}

Tensor broadcast_view(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Strides strides{};
  const int missing = shape.ndim() - x.ndim();
  std::transform(x.shape().begin(), x.shape().end(), x.strides().begin(), strides.begin() + missing,
                 [](Index size, Index stride) { return size == 1 ? 0 : stride; });
  return x.as_strided(shape, strides, x.offset());
}

Tensor apply(kernels::Unary f, const Tensor& x) {
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape());
  kernels::unary(f, raw(dense), raw(y), y.numel());
  return y;
}

Tensor apply(kernels::UnaryBackward f, const Tensor& dy, const Tensor& saved) {
  const Tensor dense_dy = dy.contiguous(), dense_saved = saved.contiguous();
  Tensor dx = Tensor::empty(dy.shape());
  kernels::unary_backward(f, raw(dense_dy), raw(dense_saved), raw(dx), dx.numel());
  return dx;
}

Tensor apply(const char* operation, kernels::Binary f, const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::empty(broadcast_shapes(operation, a.shape(), b.shape()));
  const Tensor left = broadcast_view(a, y.shape()), right = broadcast_view(b, y.shape());
  kernels::binary(f, sizes(y.shape()), raw(left), left.strides().data(), raw(right),
                  right.strides().data(), raw(y));
  return y;
}

void add_to(Tensor& y, const Tensor& x) {
  const Tensor right = broadcast_view(x, y.shape());
  kernels::binary(kernels::active().of<kernels::Add>(), sizes(y.shape()), raw(y),
                  y.strides().data(), raw(right), right.strides().data(), raw(y));
}

Tensor sum_to(const char* operation, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!broadcasts_to(shape, x.shape())) {
    throw Error(std::string(operation) + ": a gradient of shape " + to_string(x.shape()) +
                " was given to an input of shape " + to_string(shape) +
                ", which does not broadcast to it. The operation's backward is wrong.");
  }
  Tensor sum = x;
  const int missing = x.ndim() - shape.ndim();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const bool repeated = axis < missing || shape[axis - missing] != x.size(axis);
    if (!repeated) continue;
    const Tensor dense = sum.contiguous();
    const auto [outer, length, inner] = around(sum.shape(), axis);
    Tensor next = Tensor::empty(sum.shape().with(axis, 1));
    kernels::reduce(kernels::active().sum, raw(dense), outer, length, inner, raw(next));
    sum = next;
  }
  return sum.as_strided(shape, row_major(shape), 0);
}

Shape leading(const Tensor& x) {
  return Shape(std::span(x.shape().begin(), static_cast<std::size_t>(x.ndim()) - 2));
}

Shape with_matrix(const Shape& leading, Index rows, Index columns) {
  return leading.inserted(leading.ndim(), rows).inserted(leading.ndim() + 1, columns);
}

Around around(const Shape& shape, int axis) {
  const std::span all(shape.begin(), shape.end());
  const auto at = static_cast<std::size_t>(axis);
  return {Shape(all.first(at)).numel(), all[at], Shape(all.subspan(at + 1)).numel()};
}

Index rows_in(const Tensor& x) { return x.numel() / std::max<Index>(x.size(-1), 1); }

Tensor permuted_view(const Tensor& x, std::span<const int> order) {
  std::array<Index, Shape::max_ndim> shape{};
  Strides strides{};
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    shape[axis] = x.size(order[axis]);
    strides[axis] = x.strides()[static_cast<std::size_t>(order[axis])];
  }
  return x.as_strided(Shape(std::span(shape.data(), order.size())), strides, x.offset());
}

}  // namespace tapestry
