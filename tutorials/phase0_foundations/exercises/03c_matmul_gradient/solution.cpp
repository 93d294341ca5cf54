#include "phase0.hpp"

namespace learn {

MatmulGradients matmul_backward(const Tensor& dc, const Tensor& a, const Tensor& b) {
  const Tensor da = matmul(dc, transpose(b));  // (m, k)
  const Tensor db = matmul(transpose(a), dc);  // (k, n)
  return {da, db};
}

}  // namespace learn
