// Attention as plain loops, one query after another: what the SIMD sets compute block by block.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference.hpp"

namespace tapestry::kernels::reference {

// May this query attend to this key?
inline bool sees(const AttentionHead& h, Index query, Index key) {
  if (h.visible_in_block == nullptr) return true;
  std::uint64_t keep = 0;
  const BlockVisibility visible = h.visible_in_block(h, query, 1, key, 1, &keep);
  return visible.keys == 1 && (visible.clear == 1 || (keep & 1) == 1);
}

inline double score(const AttentionHead& h, Index query, Index key) {
  double total = 0;
  for (Index p = 0; p < h.width; ++p) {
    total += static_cast<double>(h.q[query * h.q_row + p]) * h.k[key * h.k_row + p];
  }
  total *= h.scale;
  return h.softcap > 0 ? h.softcap * std::tanh(total / h.softcap) : total;
}

// d score / d (scale * q k^T) where the score is this
inline double cap_slope(const AttentionHead& h, double score) {
  const double share = h.softcap > 0 ? score / h.softcap : 0;
  return 1 - share * share;
}

inline constexpr real hidden = -1;  // marks a masked key's weight

// The weights of one query for all keys, (keys); returns log sum exp of the scores that it sees.
// Where those are all -inf, the weights are zeros.
inline double weights_of(const AttentionHead& h, Index query, real* weights) {
  double largest = -infinity, total = 0;
  for (Index j = 0; j < h.keys; ++j) {
    if (sees(h, query, j)) largest = std::max(largest, score(h, query, j));
  }
  const double shift = std::max(largest, std::numeric_limits<double>::lowest());  // finite
  for (Index j = 0; j < h.keys; ++j) {
    if (sees(h, query, j)) total += std::exp(score(h, query, j) - shift);
  }
  for (Index j = 0; j < h.keys; ++j) {
    const double term = total == 0 ? 0 : std::exp(score(h, query, j) - shift) / total;
    weights[j] = sees(h, query, j) ? static_cast<real>(term) : hidden;
  }
  return shift + std::log(total);
}

inline bool attention(const AttentionHead& h, Index first, Index count, real* out, Index out_row,
                      real* log_sum) {
  real* weights = workspace(h.keys);
  bool finite = true;
  for (Index i = first; i < first + count; ++i) {
    log_sum[i] = static_cast<real>(weights_of(h, i, weights));
    for (Index e = 0; e < h.value_width; ++e) {
      double mixed = 0;
      for (Index j = 0; j < h.keys; ++j) {
        if (weights[j] != hidden) mixed += static_cast<double>(weights[j]) * h.v[j * h.v_row + e];
      }
      out[i * out_row + e] = static_cast<real>(mixed);
      finite = finite && std::isfinite(mixed);
    }
  }
  return finite;
}

// exp(score - log_sum), and 0 where all that the query sees is -inf
inline double weight_of(double score, double log_sum) {
  return log_sum == -infinity ? 0 : std::exp(score - log_sum);
}

// The sum of d_out * out over the row of one query, or the number given for it.
inline double row_sum(const AttentionHead& h, Index query, const real* out, Index out_row,
                      const real* d_o) {
  if (out_row == -1) return out[query];
  double sum = 0;
  for (Index e = 0; e < h.value_width; ++e) {
    sum += static_cast<double>(d_o[e]) * out[query * out_row + e];
  }
  return sum;
}

inline void add_scaled(real factor, const real* x, Index n, real* to) {
  for (Index i = 0; i < n; ++i) to[i] += factor * x[i];
}

// With P the weights and dP = dO V^T: dV = P^T dO, dS = P (dP - row sums of dO O), dQ = scale dS K,
// dK = scale dS^T Q. With a cap, dS is also multiplied by the slope of the cap.
inline bool attention_backward(const AttentionHead& h, const real* out, Index out_row,
                               const real* d_out, Index d_out_row, const real* log_sum, Index first,
                               Index count, const AttentionGradients& to) {
  const auto clear = [](real* x, Index row, Index rows, Index n) {
    for (Index i = 0; x != nullptr && i < rows; ++i) std::fill_n(x + i * row, n, real(0));
  };
  clear(to.q, to.q_row, h.queries, h.width);
  clear(to.k, to.k_row, count, h.width);
  clear(to.v, to.v_row, count, h.value_width);
  for (Index i = 0; i < h.queries; ++i) {
    const real* d_o = d_out + i * d_out_row;
    const double delta = row_sum(h, i, out, out_row, d_o);
    for (Index j = first; j < first + count; ++j) {
      if (!sees(h, i, j)) continue;
      const double s = score(h, i, j);
      const double weight = weight_of(s, log_sum[i]);
      double d_p = 0;
      for (Index e = 0; e < h.value_width; ++e) {
        d_p += static_cast<double>(d_o[e]) * h.v[j * h.v_row + e];
      }
      const real d_s = static_cast<real>(weight * (d_p - delta) * h.scale * cap_slope(h, s));
      if (to.q != nullptr) add_scaled(d_s, h.k + j * h.k_row, h.width, to.q + i * to.q_row);
      if (to.k == nullptr) continue;
      const Index at = j - first;
      add_scaled(d_s, h.q + i * h.q_row, h.width, to.k + at * to.k_row);
      add_scaled(static_cast<real>(weight), d_o, h.value_width, to.v + at * to.v_row);
    }
  }
  return true;  // what is masked has changed nothing
}

}  // namespace tapestry::kernels::reference
