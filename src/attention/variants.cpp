// Attention in chunks of queries, in windows, and with keys and values shared by heads.
#include <algorithm>

#include "attention/operands.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

Tensor rows(const Tensor& x, Index begin, Index end) { return slice(x, -2, begin, end); }

}  // namespace

Tensor chunked_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                         Index chunk) {
  const AttentionOperands of("chunked attention", q, k, v);
  if (chunk < 1) {
    throw Error("chunked attention: chunks of " + std::to_string(chunk) +
                " queries: it must be at least 1.");
  }
  mask.check_fits(of.sequences(), of.queries, of.keys, of.heads());
  std::vector<Tensor> parts;
  for (Index begin = 0; begin < of.queries || parts.empty(); begin += chunk) {
    const Index end = begin + std::min(chunk, of.queries - begin);
    const Mask seen = mask.part(begin, end - begin, 0, of.keys);
    const auto attend = [seen](const std::vector<Tensor>& in) {
      return attention(in[0], in[1], in[2], seen).output;  // (..., end - begin, d_v)
    };
    parts.push_back(checkpoint(attend, {rows(q, begin, end), k, v}));  // (..., end - begin, d_v)
  }
  return concat(parts, -2);  // (..., queries, d_v)
}

Tensor sliding_window_attention(const Tensor& q, const Tensor& k, const Tensor& v, Index window,
                                const Mask& mask) {
  const AttentionOperands of("sliding-window attention", q, k, v);
  const Index length = of.keys;
  if (of.queries != length) {
    throw Error(error_prefix("sliding-window attention", q, k, v) +
                "it is self-attention: there must be as many queries as keys.");
  }
  const Mask seen = Mask::local(window) & mask;
  seen.check_fits(of.sequences(), length, length, of.heads());
  constexpr Index least = 64;  // queries, below which a separate product does not pay
  const Index reach = std::min(window, length), block = std::max(reach, least);
  std::vector<Tensor> parts;
  for (Index begin = 0; begin < length || parts.empty(); begin += block) {
    const Index end = std::min(begin + block, length);
    const Index first = std::max<Index>(begin - reach, 0), last = std::min(end + reach, length);
    parts.push_back(attention(rows(q, begin, end), rows(k, first, last), rows(v, first, last),
                              seen.part(begin, end - begin, first, last - first))
                        .output);  // (..., end - begin, d_v)
  }
  return concat(parts, -2);  // (..., queries, d_v)
}

Tensor grouped_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                         const ScoreOptions& how) {
  const char* const name = "grouped attention";
  const auto fits = [](const Tensor& x) { return x.ndim() >= 3 && x.ndim() < Shape::max_ndim; };
  if (!fits(q) || !fits(k) || !fits(v)) {
    throw Error(error_prefix(name, q, k, v) +
                "each must be (..., heads, length, width), of at most five axes.");
  }
  const Index heads = q.size(-3), groups = k.size(-3);
  if (v.size(-3) != groups || groups < 1 || heads % groups != 0) {
    throw Error(error_prefix(name, q, k, v) +
                "keys and values must have as many heads as each other (" + std::to_string(groups) +
                " and " + std::to_string(v.size(-3)) +
                "), and that number must divide the heads of q (" + std::to_string(heads) + ").");
  }
  if (q.ndim() == 3 && k.ndim() == 3 && v.ndim() == 3) {
    // (heads, queries, d_v)
    return squeeze(grouped_attention(unsqueeze(q, 0), unsqueeze(k, 0), unsqueeze(v, 0), mask, how),
                   0);
  }
  const Shape parts = q.shape().with(-3, groups).inserted(q.ndim() - 2, heads / groups);
  // (batch, groups, heads / groups, queries, d_v)
  const Tensor y =
      fused_attention(reshape(q, parts), unsqueeze(k, -3), unsqueeze(v, -3), mask, how);
  return reshape(y, y.shape().removed(-3).with(-3, heads));  // (batch, heads, queries, d_v)
}

}  // namespace tapestry
