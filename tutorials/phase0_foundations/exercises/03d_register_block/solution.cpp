#include <xsimd/xsimd.hpp>

#include "phase0.hpp"

namespace learn {
namespace {

using Batch = xsimd::batch<real>;
constexpr Index lanes = Batch::size;

// The columns j, j + 1, ... of four rows of c, by four rows of a (4, inner) and b (inner, n).
void four_rows(const real* a, const real* b, real* c, Index inner, Index n, Index j) {
  Batch sum0(0), sum1(0), sum2(0), sum3(0);
  for (Index k = 0; k < inner; ++k) {
    const Batch row = Batch::load_unaligned(b + k * n + j);
    sum0 += Batch(a[k]) * row;
    sum1 += Batch(a[inner + k]) * row;
    sum2 += Batch(a[2 * inner + k]) * row;
    sum3 += Batch(a[3 * inner + k]) * row;
  }
  sum0.store_unaligned(c + j);
  sum1.store_unaligned(c + n + j);
  sum2.store_unaligned(c + 2 * n + j);
  sum3.store_unaligned(c + 3 * n + j);
}

real one_number(const real* a, const real* b, Index inner, Index n, Index j) {
  real sum = 0;
  for (Index k = 0; k < inner; ++k) sum += a[k] * b[k * n + j];
  return sum;
}

}  // namespace

Tensor matmul_blocked(const Tensor& a, const Tensor& b) {
  const Index m = a.size(0), inner = a.size(1), n = b.size(1);
  const Index full_rows = m - m % 4, full_columns = n - n % lanes;
  Tensor c = Tensor::zeros({m, n});  // (m, n)
  for (Index i = 0; i < full_rows; i += 4) {
    const real* rows = a.data() + i * inner;
    for (Index j = 0; j < full_columns; j += lanes) {
      four_rows(rows, b.data(), c.data() + i * n, inner, n, j);
    }
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = i < full_rows ? full_columns : 0; j < n; ++j) {
      c.set({i, j}, one_number(a.data() + i * inner, b.data(), inner, n, j));
    }
  }
  return c;
}

}  // namespace learn
