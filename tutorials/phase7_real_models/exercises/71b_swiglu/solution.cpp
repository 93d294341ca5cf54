#include "phase7.hpp"

namespace learn {

Tensor swiglu(const Tensor& x, const Tensor& gate, const Tensor& up, const Tensor& down) {
  const Tensor gates = silu(matmul(x, gate));  // (n, w)
  return matmul(gates * matmul(x, up), down);  // (n, d)
}

}  // namespace learn
