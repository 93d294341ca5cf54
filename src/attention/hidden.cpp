#include "attention/hidden.hpp"

#include <cmath>
#include <limits>

#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool all_finite(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return std::isfinite(kernels::sum_squares(raw(dense), dense.numel()));
}

Tensor equal(const Tensor& a, const Tensor& b) {
  return apply("equal", kernels::active().of<kernels::Equal>(), a, b);
}

// Zeros where x is NaN or infinite.
Tensor finite_part(const Tensor& x) {
  const Tensor plain = x.detach();
  return where(equal(plain - plain, 0), plain, 0);  // x's shape
}

// The contribution of NaN and infinities of v (..., keys, d_v) to the output of the queries that
// see them; visible (..., queries, keys) is the mask.
Tensor not_finite_part(const Tensor& v, const Tensor& visible) {
  const Tensor plain = v.detach();
  Tensor sum = 0;  // (), then (..., queries, d_v)
  for (const double bad : {nan, infinity, -infinity}) {
    // (..., keys, d_v)
    const Tensor is = std::isnan(bad) ? 1 - equal(plain, plain) : equal(plain, bad);
    sum = sum + where(matmul(visible, is), bad, 0);  // (..., queries, d_v)
  }
  return sum;
}

}  // namespace

Tensor product_of_pairs(const Tensor& q, const Tensor& k, const Mask& mask) {
  if (mask.allows_everything() || (all_finite(q) && all_finite(k))) return matmul(q, transpose(k));
  const Tensor y = matmul(q.detach(), transpose(k.detach()));  // (..., queries, keys)
  return Tape::record("matmul", {q, k}, y,
                      [q = Tape::save(finite_part(q)), k = Tape::save(finite_part(k))](
                          const Tensor& dy, GradientSink& to) {
                        if (to.needs_gradient(0)) to.accumulate(0, matmul(dy, k));
                        if (to.needs_gradient(1)) to.accumulate(1, matmul(transpose(dy), q));
                      });
}

Tensor mix_of_values(const Tensor& weights, const Tensor& v, const Mask& mask) {
  if (mask.allows_everything() || all_finite(v)) return matmul(weights, v);
  const Tensor finite = finite_part(v);  // (..., keys, d_v)
  const Tensor y = matmul(weights.detach(), finite) +
                   not_finite_part(v, mask.tensor(weights.shape()));  // (..., queries, d_v)
  return Tape::record("matmul", {weights, v}, y,
                      [weights = Tape::save(weights), finite = Tape::save(finite)](
                          const Tensor& dy, GradientSink& to) {
                        if (to.needs_gradient(0)) to.accumulate(0, matmul(dy, transpose(finite)));
                        if (to.needs_gradient(1)) to.accumulate(1, matmul(transpose(weights), dy));
                      });
}

}  // namespace tapestry
