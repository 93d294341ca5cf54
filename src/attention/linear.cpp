// Linear attention. The normalizer is one more column of the values, always 1: the sums of weighted
// values then include the sum of weights.
#include <algorithm>
#include <limits>

#include "attention/hidden.hpp"
#include "attention/operands.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

constexpr Index chunk = 64;  // positions whose weights are computed

// elu(x) + 1, exact also where elu(x) is close to -1
Tensor positive(const Tensor& x) {
  return exp(clamp(x, -std::numeric_limits<double>::infinity(), 0)) + relu(x);
}

Tensor with_ones(const Tensor& v) { return concat({v, Tensor::ones(v.shape().with(-1, 1))}, -1); }

Tensor not_zero(const Tensor& total) { return where(total, total, 1); }

// (..., queries, d_v + 1): sums of weighted values, and of the weights
Tensor divided(const Tensor& y) {
  const Index width = y.size(-1) - 1;
  return slice(y, -1, 0, width) / not_zero(slice(y, -1, width, width + 1));  // (..., queries, d_v)
}

// The sums over i' <= i along the axis before the last two, by doubling (Hillis & Steele 1986).
Tensor prefix_sums(Tensor x) {
  const Index count = x.size(-3);
  for (Index shift = 1; shift < count; shift *= 2) {
    const Tensor nothing = Tensor::zeros(x.shape().with(-3, shift));  // (..., shift, rows, columns)
    x = x + concat({nothing, slice(x, -3, 0, count - shift)}, -3);    // (..., count, rows, columns)
  }
  return x;
}

// (..., length, width) -> (..., chunks, size, width), with rows of zeros after the last
Tensor in_chunks(const Tensor& x, Index chunks, Index size) {
  const Index missing = chunks * size - x.size(-2);
  const Shape shape = x.shape().with(-2, chunks).inserted(x.ndim() - 1, size);
  if (missing == 0) return reshape(x, shape);
  return reshape(concat({x, Tensor::zeros(x.shape().with(-2, missing))}, -2), shape);
}

}  // namespace

Attention explicit_linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Mask& mask) {
  const AttentionOperands of("linear attention", q, k, v);
  if (mask.allows_everything()) {
    const Tensor scores = matmul(positive(q), transpose(positive(k)));  // (..., queries, keys)
    const Tensor weights = scores / not_zero(sum(scores, -1, true));    // (..., queries, keys)
    return {matmul(weights, v), weights, scores};
  }
  const Tensor visible = mask.tensor(with_matrix(of.batch, of.queries, of.keys));
  const Tensor seen = unsqueeze(max(visible, -2), -1);  // (..., keys, 1): by some query
  const Tensor scores =
      product_of_pairs(positive(q), positive(where(seen, k, 0)), mask);  // (..., queries, keys)
  const Tensor shown = where(visible, scores, 0);                        // (..., queries, keys)
  const Tensor weights = shown / not_zero(sum(shown, -1, true));         // (..., queries, keys)
  return {mix_of_values(weights, v, mask), weights, scores};
}

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::vector<Index>& lengths) {
  const AttentionOperands of("linear attention", q, k, v);
  Tensor keys = positive(k), values = v;  // (..., keys, d_k), (..., keys, d_v)
  if (!lengths.empty()) {
    const Shape row = with_matrix(of.batch, 1, of.keys);
    const Tensor seen = transpose(Mask::padding(lengths).tensor(row));  // (..., keys, 1)
    keys = where(seen, positive(where(seen, k, 0)), 0);                 // (..., keys, d_k)
    values = where(seen, v, 0);  // (..., keys, d_v), or 0 times NaN would enter
  }
  const Tensor sums = matmul(transpose(keys), with_ones(values));  // (..., d_k, d_v + 1)
  const Tensor queries = positive(q);                              // (..., queries, d_k)
  return divided(matmul(queries, sums));                           // (..., queries, d_v)
}

Tensor causal_linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               LinearAttentionState* state) {
  const AttentionOperands of("causal linear attention", q, k, v);
  const Index length = of.queries;
  if (length != of.keys || std::max({q.ndim(), k.ndim(), v.ndim()}) == Shape::max_ndim) {
    throw Error(error_prefix("causal linear attention", q, k, v) +
                "there must be as many queries as keys, and at most five axes.");
  }
  const Index size = std::clamp<Index>(length, 1, chunk), chunks = (length + size - 1) / size;
  const Tensor queries = in_chunks(positive(q), chunks, size);   // (..., chunks, size, d_k)
  const Tensor keys = in_chunks(positive(k), chunks, size);      // (..., chunks, size, d_k)
  const Tensor values = in_chunks(with_ones(v), chunks, size);   // (..., chunks, size, d_v + 1)
  const Tensor of_chunks = matmul(transpose(keys), values);      // (..., chunks, d_k, d_v + 1)
  Tensor before = Tensor::zeros(of_chunks.shape().with(-3, 1));  // (..., 1, d_k, d_v + 1)
  if (state != nullptr && state->sums.defined()) {
    before = unsqueeze(state->sums, -3);  // (..., 1, d_k, d_v + 1)
    if (before.shape() != of_chunks.shape().with(-3, 1)) {
      throw Error(error_prefix("causal linear attention", q, k, v) + "the state's sums are " +
                  to_string(state->sums.shape()) +
                  ", not of these sizes. Begin with an empty state.");
    }
  }
  const Tensor sums =
      prefix_sums(concat({before, of_chunks}, -3));        // (..., 1 + chunks, d_k, d_v + 1)
  const Tensor scores = matmul(queries, transpose(keys));  // (..., chunks, size, size)
  const Tensor weights = where(Mask::causal().tensor({size, size}), scores, 0);  // as scores
  const Tensor earlier = matmul(queries, slice(sums, -3, 0, chunks));            // as values
  const Tensor y = matmul(weights, values) + earlier;                            // as values
  if (state != nullptr) state->sums = squeeze(slice(sums, -3, chunks, chunks + 1), -3);
  const Shape joined = y.shape().removed(-3).with(-2, chunks * size);
  return divided(slice(reshape(y, joined), -2, 0, length));  // (..., length, d_v)
}

}  // namespace tapestry
