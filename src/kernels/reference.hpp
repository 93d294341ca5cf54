// Start here: every kernel as a plain loop.
//
// These define what the library computes; the SIMD sets only compute it faster, and a test compares
// each of them with this file. Elementary functions and sums run in double and round once, so that
// the reference is also the most accurate set. table.hpp holds the contract of each kernel; the
// functions of single numbers stand in functions*.hpp.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/philox.hpp"
#include "kernels/table.hpp"

namespace tapestry::kernels::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- Elementwise loops

// y[i] = f(x[i])
template <class F>
void map(const real* x, real* y, Index n, F f) {
  for (Index i = 0; i < n; ++i) y[i] = static_cast<real>(f(static_cast<double>(x[i])));
}

// y[i] = f(a[i], b[i])
template <class F>
void map2(const real* a, Index a_step, const real* b, Index b_step, real* y, Index n, F f) {
  for (Index i = 0; i < n; ++i) {
    y[i] = static_cast<real>(
        f(static_cast<double>(a[i * a_step]), static_cast<double>(b[i * b_step])));
  }
}

inline void select(const real* condition, Index condition_step, const real* a, Index a_step,
                   const real* b, Index b_step, real* y, Index n) {
  for (Index i = 0; i < n; ++i) {
    y[i] = condition[i * condition_step] != 0 ? a[i * a_step] : b[i * b_step];
  }
}

// ---- Reductions

// y[o, i] = f(...f(f(start, x[o, 0, i]), x[o, 1, i])..., x[o, length - 1, i])
template <class F>
void reduce(const real* x, Index outer, Index length, Index inner, real* y, double start, F f) {
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      double total = start;
      for (Index j = 0; j < length; ++j) total = f(total, x[(o * length + j) * inner + i]);
      y[o * inner + i] = static_cast<real>(total);
    }
  }
}

inline void sum(const real* x, Index outer, Index length, Index inner, real* y) {
  reduce(x, outer, length, inner, y, 0, [](double a, double b) { return a + b; });
}
inline void max(const real* x, Index outer, Index length, Index inner, real* y) {
  reduce(x, outer, length, inner, y, -infinity, Maximum::plain);
}
inline void min(const real* x, Index outer, Index length, Index inner, real* y) {
  reduce(x, outer, length, inner, y, infinity, Minimum::plain);
}

inline void prod(const real* x, Index outer, Index length, Index inner, real* y) {
  reduce(x, outer, length, inner, y, 1, Multiply::plain);
}

inline double sum_squares(const real* x, Index n) {
  double total = 0;
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

// ---- Rows

// The largest of n numbers: -inf for none, NaN if any is.
inline double row_max(const real* x, Index n) {
  double largest = -infinity;
  for (Index i = 0; i < n; ++i) largest = Maximum::plain(largest, x[i]);
  return largest;
}

// sum of exp(x[i] - shift); with shift the row's maximum no term overflows
inline double sum_exp(const real* x, Index n, double shift) {
  double total = 0;
  for (Index i = 0; i < n; ++i) total += std::exp(x[i] - shift);
  return total;
}

// y = exp(x - max) / sum(exp(x - max)); a row of nothing but -inf becomes zeros
inline void softmax(const real* x, real* y, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const double largest = row_max(x, n);
    const bool nothing = largest == -infinity;
    const double total = sum_exp(x, n, largest);
    for (Index i = 0; i < n; ++i) {
      y[i] = nothing ? real(0) : static_cast<real>(std::exp(x[i] - largest) / total);
    }
  }
}

// y = (x - max) - log(sum(exp(x - max)))
inline void log_softmax(const real* x, real* y, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const double largest = row_max(x, n);
    const bool nothing = largest == -infinity;
    const double log_total = std::log(sum_exp(x, n, largest));
    for (Index i = 0; i < n; ++i) {
      y[i] = static_cast<real>(nothing ? -infinity : (x[i] - largest) - log_total);
    }
  }
}

// y = max + log(sum(exp(x - max))); a maximum of -inf, inf or NaN is already the answer
inline void logsumexp(const real* x, real* y, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n) {
    const double largest = row_max(x, n);
    const bool finite = std::isfinite(largest);
    y[r] = static_cast<real>(finite ? largest + std::log(sum_exp(x, n, largest)) : largest);
  }
}

// dx = y * (dy - sum(dy * y))
inline void softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    double total = 0;
    for (Index i = 0; i < n; ++i) total += static_cast<double>(dy[i]) * y[i];
    for (Index i = 0; i < n; ++i) dx[i] = static_cast<real>(y[i] * (dy[i] - total));
  }
}

// dx = dy - exp(y) * sum(dy); zeros where y is nothing but -inf
inline void log_softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const bool nothing = row_max(y, n) == -infinity;
    double total = 0;
    for (Index i = 0; i < n; ++i) total += dy[i];
    for (Index i = 0; i < n; ++i) {
      const double p = std::exp(static_cast<double>(y[i]));
      dx[i] = nothing ? real(0) : static_cast<real>(dy[i] - p * total);
    }
  }
}

inline void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                       real* mean, real* inverse_deviation, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    double total = 0, squares = 0;
    for (Index i = 0; i < n; ++i) total += x[i];
    const double center = total / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) squares += (x[i] - center) * (x[i] - center);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (Index i = 0; i < n; ++i) {
      y[i] = static_cast<real>((x[i] - center) * inverse * gain[i] + bias[i]);
    }
    mean[2 * r] = static_cast<real>(center);
    mean[2 * r + 1] = static_cast<real>(center - mean[2 * r]);
    inverse_deviation[r] = static_cast<real>(inverse);
  }
}

// With z = (x - mean) * inverse_deviation and g = dy * gain:
// dx = inverse_deviation * (g - mean(g) - z * mean(g * z)); d_gain += dy * z; d_bias += dy
inline void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                                const real* inverse_deviation, real* dx, real* sums, Index rows,
                                Index n, Index block) {
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    const double center = static_cast<double>(mean[2 * r]) + mean[2 * r + 1];
    const double inverse = inverse_deviation[r];
    double sum_g = 0, sum_gz = 0;
    for (Index i = 0; i < n; ++i) {
      const double g = static_cast<double>(dy[i]) * gain[i];
      sum_g += g;
      sum_gz += g * (x[i] - center) * inverse;
    }
    const double mean_g = sum_g / static_cast<double>(n);
    const double mean_gz = sum_gz / static_cast<double>(n);
    real *const d_gain = sums + r / block * 2 * n, *const d_bias = d_gain + n;
    for (Index i = 0; i < n; ++i) {
      const double z = (x[i] - center) * inverse, up = dy[i];
      d_gain[i] = static_cast<real>(d_gain[i] + up * z);
      d_bias[i] = static_cast<real>(d_bias[i] + up);
      dx[i] = static_cast<real>(inverse * (up * gain[i] - mean_g - z * mean_gz));
    }
  }
}

inline void rms_norm(const real* x, const real* gain, real epsilon, real* y, real* inverse_rms,
                     Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    double squares = 0;
    for (Index i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (Index i = 0; i < n; ++i) y[i] = static_cast<real>(x[i] * inverse * gain[i]);
    inverse_rms[r] = static_cast<real>(inverse);
  }
}

// With z = x * inverse_rms and g = dy * gain: dx = inverse_rms * (g - z * mean(g * z));
// d_gain += dy * z
inline void rms_norm_backward(const real* dy, const real* x, const real* gain,
                              const real* inverse_rms, real* dx, real* sums, Index rows, Index n,
                              Index block) {
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    const double inverse = inverse_rms[r];
    double sum_gz = 0;
    for (Index i = 0; i < n; ++i) sum_gz += static_cast<double>(dy[i]) * gain[i] * x[i] * inverse;
    const double mean_gz = sum_gz / static_cast<double>(n);
    real* const share = sums + r / block * n;
    for (Index i = 0; i < n; ++i) {
      const double z = x[i] * inverse, up = dy[i];
      share[i] = static_cast<real>(share[i] + up * z);
      dx[i] = static_cast<real>(inverse * (up * gain[i] - z * mean_gz));
    }
  }
}

inline void cross_entropy_backward(const real* logits, const real* log_sum,
                                   const std::int32_t* target, real scale, real* d_logits,
                                   Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, logits += n, d_logits += n) {
    for (Index i = 0; i < n; ++i) {
      const double wanted = i == target[r] ? 1 : 0;
      const double probability = std::exp(static_cast<double>(logits[i]) - log_sum[r]);
      d_logits[i] = target[r] < 0 ? real(0) : static_cast<real>(scale * (probability - wanted));
    }
  }
}

// ---- Random numbers

// Of a group's 64 numbers, each quarter takes one half of two words of each block. Halves are
// compared as signed numbers, the smallest of which is 0x8000.
inline void dropout(const real* x, real* y, Index n, RandomBlocks random, std::uint32_t limit,
                    real scale) {
  constexpr Index quarter = DropoutGroup::numbers / 4;
  for (Index i = 0; i < n; ++i) {
    const Index group = i / DropoutGroup::numbers, place = i % quarter, which = i / quarter % 4;
    const auto block = std::uint64_t(group * DropoutGroup::blocks + place / 2);
    const auto words =
        philox(random.first + block, random.stream, random.seed, Philox::fewest_rounds);
    const std::uint32_t word = words[std::size_t(place % 2 * 2 + which / 2)];
    const std::uint32_t half = which % 2 == 0 ? word & 0xFFFF : word >> 16;
    y[i] = x[i] * ((half ^ 0x8000) < limit ? real(0) : scale);
  }
}

// ---- Updates in place

inline void sgd(real* weight, const real* gradient, real* velocity, SgdStep step, Index n) {
  for (Index i = 0; i < n; ++i) {
    velocity[i] = step.momentum * velocity[i] + gradient[i];
    const real move = step.nesterov ? gradient[i] + step.momentum * velocity[i] : velocity[i];
    weight[i] = weight[i] - step.rate * step.weight_decay * weight[i] - step.rate * move;
  }
}

inline void adam(real* weight, const real* gradient, real* mean, real* square, AdamStep step,
                 Index n) {
  for (Index i = 0; i < n; ++i) {
    const real g = gradient[i];
    mean[i] = step.beta1 * mean[i] + (1 - step.beta1) * g;
    square[i] = step.beta2 * square[i] + (1 - step.beta2) * g * g;
    const real decayed = weight[i] - step.rate * step.weight_decay * weight[i];
    const real deviation = std::sqrt(square[i] / step.correction2) + step.epsilon;
    weight[i] = decayed - step.rate * (mean[i] / step.correction1) / deviation;
  }
}

// ---- Matrices

// c[i, j] = sum over p of a[i, p] * b[p, j]
inline void matmul(Index m, Index n, Index k, const real* a, Index a_row, Index a_column,
                   const real* b, Index b_row, Index b_column, real* c, Index c_row) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double total = 0;
      for (Index p = 0; p < k; ++p) {
        total += static_cast<double>(a[i * a_row + p * a_column]) * b[p * b_row + j * b_column];
      }
      c[i * c_row + j] = static_cast<real>(total);
    }
  }
}

// c = a b + bias, then y = f(c); each step rounds, as the separate kernels do
inline void linear(Index m, Index n, Index k, const real* a, Index a_row, Index a_column,
                   const real* b, Index b_row, Index b_column, const Epilogue& then, real* c,
                   Index c_row) {
  matmul(m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row);
  for (Index i = 0; i < m; ++i, c += c_row) {
    for (Index j = 0; j < n && then.bias; ++j) c[j] += then.bias[j];
    if (then.activation) then.activation(c, then.y + i * c_row, n);
  }
}

// Eight independent chains of multiply and add: 16 operations a round.
inline double fma_burst(Index rounds, real* sink) {
  real chain[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (Index r = 0; r < rounds; ++r) {
    for (real& value : chain) value = value * real(0.5) + real(1);
  }
  *sink = 0;
  for (real value : chain) *sink += value;
  return 16.0 * static_cast<double>(rounds);
}

}  // namespace tapestry::kernels::reference
