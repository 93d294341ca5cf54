#include "phase2.hpp"

namespace learn {

Tensor feed_forward(const Tensor& x, const Tensor& up, const Tensor& up_bias, const Tensor& down,
                    const Tensor& down_bias) {
  const Tensor wide = gelu(matmul(x, up) + up_bias);  // (n, w)
  return matmul(wide, down) + down_bias;              // (n, d)
}

}  // namespace learn
