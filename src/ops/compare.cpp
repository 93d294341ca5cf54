// < <= > >= == != isnan: 1 or 0, which no gradient passes.
#include "tapestry/ops.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

Tensor operator<(const Tensor& a, const Tensor& b) {
  return apply("<", active().of<kernels::Less>(), a, b);
}

Tensor operator<=(const Tensor& a, const Tensor& b) {
  return apply("<=", active().of<kernels::LessEqual>(), a, b);
}

Tensor operator>(const Tensor& a, const Tensor& b) {
  return apply(">", active().of<kernels::Less>(), b, a);
}

Tensor operator>=(const Tensor& a, const Tensor& b) {
  return apply(">=", active().of<kernels::LessEqual>(), b, a);
}

Tensor operator==(const Tensor& a, const Tensor& b) {
  return apply("==", active().of<kernels::Equal>(), a, b);
}

Tensor operator!=(const Tensor& a, const Tensor& b) {
  return apply("!=", active().of<kernels::NotEqual>(), a, b);
}

Tensor isnan(const Tensor& x) { return apply(active().of<kernels::IsNan>(), x); }

}  // namespace tapestry
