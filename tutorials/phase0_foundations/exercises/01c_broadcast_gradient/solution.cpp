#include "phase0.hpp"

namespace learn {

Tensor broadcast_backward(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;                                    // (y's shape)
  while (dx.ndim() > shape.ndim()) dx = sum(dx, 0);  // one axis less
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    if (shape[axis] == 1) dx = sum(dx, axis, true);  // size 1 along this axis
  }
  return dx;
}

}  // namespace learn
