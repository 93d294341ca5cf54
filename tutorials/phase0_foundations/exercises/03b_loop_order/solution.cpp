#include "phase0.hpp"

namespace learn {

void matmul_accumulate(Tensor& c, const Tensor& a, const Tensor& b) {
  const Index m = a.size(0), inner = a.size(1), n = b.size(1);
  for (Index i = 0; i < m; ++i) {
    real* c_row = c.data() + i * n;
    for (Index k = 0; k < inner; ++k) {
      const real factor = a.data()[i * inner + k];
      const real* b_row = b.data() + k * n;
      for (Index j = 0; j < n; ++j) c_row[j] += factor * b_row[j];
    }
  }
}

}  // namespace learn
