#include <algorithm>
#include <array>

#include "phase0.hpp"

namespace learn {
namespace {

using Three = std::array<Index, 3>;

// The sizes of three axes: those that are missing in front are 1.
Three padded(const Tensor& x) {
  Three sizes = {1, 1, 1};
  for (int axis = 0; axis < x.ndim(); ++axis) {
    sizes[static_cast<std::size_t>(3 - x.ndim() + axis)] = x.size(axis);
  }
  return sizes;
}

// How far one step along each axis goes; an axis of size 1 is repeated by a stride of 0.
Three repeating_strides(const Three& s) {
  return {s[0] == 1 ? 0 : s[1] * s[2], s[1] == 1 ? 0 : s[2], s[2] == 1 ? 0 : 1};
}

}  // namespace

Tensor broadcast_add(const Tensor& a, const Tensor& b) {
  const Three x = padded(a), y = padded(b);
  Three sizes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (x[axis] != y[axis] && x[axis] != 1 && y[axis] != 1) throw Error("the shapes do not fit");
    sizes[axis] = std::max(x[axis], y[axis]);
  }
  const Three xs = repeating_strides(x), ys = repeating_strides(y);
  const auto axes = static_cast<std::size_t>(std::max(a.ndim(), b.ndim()));
  Tensor sum = Tensor::zeros(Shape(std::span<const Index>(sizes).last(axes)));  // (sizes)
  real* out = sum.data();
  for (Index i = 0; i < sizes[0]; ++i) {
    for (Index j = 0; j < sizes[1]; ++j) {
      for (Index k = 0; k < sizes[2]; ++k) {
        *out++ = a.data()[i * xs[0] + j * xs[1] + k * xs[2]] +
                 b.data()[i * ys[0] + j * ys[1] + k * ys[2]];
      }
    }
  }
  return sum;
}

}  // namespace learn
