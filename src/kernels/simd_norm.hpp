// Layer normalisation.
#pragma once

#include <cmath>

#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

// The plain loops, in double. They handle a row that holds a NaN, or whose sums overflow here:
// squares do from 1.8e19 on.
template <class A>
decltype(Table::layer_norm) plain_layer_norm = nullptr;
template <class A>
decltype(Table::layer_norm_backward) plain_layer_norm_backward = nullptr;

// Sums over a row of the differences from a number, and of their squares. Sums of the numbers
// themselves would be too inexact where a row lies far from 0.
template <class A>
struct RowSums {
  float near;
  Chains<A> offsets{0.0f}, squares{0.0f};

  explicit RowSums(float number) : near(number) {}

  template <class Part, class K>
  TAPESTRY_INLINE void add(const real* x, Index i, Part part, K k) {
    const Floats<A> d = load<A>(x + i, part, near) - Floats<A>(near);  // 0 beyond the row
    offsets.at[k] += d;
    squares.at[k] = multiply_add(d, d, squares.at[k]);
  }
  TAPESTRY_INLINE void add_row(const real* x, Index n) {
    sweep_chains<A>(n, [&](Index i, auto part, auto k) { add(x, i, part, k); });
  }
};

// The mean of the first 16 numbers. For most rows it is near enough to the mean of all.
template <class A>
TAPESTRY_INLINE float mean_of_first(const real* x, Index n) {
  const Index count = n < cache_line ? n : cache_line;
  Floats<A> sum(0.0f);
  sweep<A>(count, [&](Index i, auto part) { sum += load<A>(x + i, part); });
  return fold_sum<A>(sum) / float(count);
}

// Writes the mean as a sum of two floats, and 1 / sqrt(variance + epsilon); false if a sum
// overflows, or holds a NaN. share is 1 / n.
template <class A>
TAPESTRY_INLINE bool measure_row(const real* x, RowSums<A> sums, double epsilon, Index n,
                                 double share, real* mean, real* inverse_deviation) {
  double offset = double(first_lane<A>(sums.offsets.sum())) * share;
  double square = double(first_lane<A>(sums.squares.sum())) * share;
  // More than a standard deviation away, the next subtraction would lose digits.
  if (2 * offset * offset > square) {
    sums = RowSums<A>(float(double(sums.near) + offset));
    sums.add_row(x, n);
    offset = double(first_lane<A>(sums.offsets.sum())) * share;
    square = double(first_lane<A>(sums.squares.sum())) * share;
  }
  const double variance = square - offset * offset;  // about the mean
  const double middle = double(sums.near) + offset;
  mean[0] = float(middle);
  mean[1] = float(middle - double(mean[0]));
  *inverse_deviation = float(1 / std::sqrt((variance > 0 ? variance : 0) + epsilon));
  return square < double(infinity);
}

template <class A>
TAPESTRY_INLINE RowSums<A> sums_of(const real* x, Index n) {
  RowSums<A> sums(mean_of_first<A>(x, n));
  sums.add_row(x, n);
  return sums;
}

// Layer normalisation needs most rows twice, the second time to write. While one row is written
// the next is read for the first time, so that memory reads and writes overlap.

template <class A, class Whole>
TAPESTRY_INLINE void layer_norm_rows(const real* x, const real* gain, const real* bias,
                                     real epsilon, real* y, real* mean, real* inverse_deviation,
                                     Index rows, Index n) {
  using V = Floats<A>;
  if (rows == 0 || n == 0) return;
  const double share = 1 / double(n);
  RowSums<A> sums = sums_of<A>(x, n);
  for (Index r = 0; r < rows; ++r, x += n, y += n, mean += 2, ++inverse_deviation) {
    const real* const next = r + 1 < rows ? x + n : x;  // after the last row: any
    if (!measure_row<A>(x, sums, double(epsilon), n, share, mean, inverse_deviation)) {
      plain_layer_norm<A>(x, gain, bias, epsilon, y, mean, inverse_deviation, 1, n);
      sums = sums_of<A>(next, n);
      continue;
    }
    const V high(mean[0]), inverse(*inverse_deviation), low = V(-mean[1]) * inverse;
    sums = RowSums<A>(mean_of_first<A>(next, n));
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) {
      if constexpr (k * lanes<A> % cache_line == 0) fetch_near(next + i);
      const V z = multiply_add(load<A>(x + i, part) - high, inverse, low);
      sums.add(next, i, part, k);
      store<A>(y + i, multiply_add(z, load<A>(gain + i, part), load<A>(bias + i, part)), part);
    });
  }
}

template <class A>
void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index rows, Index n) {
  if (streams<A>(y, x, rows, n) && aligned_rows<A>(y, n)) {
    layer_norm_rows<A, Stream>(x, gain, bias, epsilon, y, mean, inverse_deviation, rows, n);
    finish_stream(true);
  } else {
    layer_norm_rows<A, Full>(x, gain, bias, epsilon, y, mean, inverse_deviation, rows, n);
  }
}

// Sums over the whole row for its gradient: sum(g) and sum(g * (x - high)), where high is the first
// part of the mean
template <class A>
struct NormSums {
  Floats<A> high;
  Chains<A> g{0.0f}, gd{0.0f};

  explicit NormSums(const real* mean) : high(mean[0]) {}
  NormSums(const real* dy, const real* x, const real* gain, const real* mean, Index n)
      : NormSums(mean) {
    sweep_chains<A>(n, [&](Index i, auto part, auto k) { add(dy, x, gain, i, part, k); });
  }

  template <class Part, class K>
  TAPESTRY_INLINE void add(const real* dy, const real* x, const real* gain, Index i, Part part,
                           K k) {
    const Floats<A> up = load<A>(dy + i, part) * load<A>(gain + i, part);  // 0 beyond the row
    g.at[k] += up;
    gd.at[k] = multiply_add(up, load<A>(x + i, part) - high, gd.at[k]);
  }
};

template <class A, class Whole>
TAPESTRY_INLINE void layer_norm_backward_rows(const real* dy, const real* x, const real* gain,
                                              const real* mean, const real* inverse_deviation,
                                              real* dx, real* sums, Index rows, Index n,
                                              Index block) {
  using V = Floats<A>;
  const V share(1.0f / float(n));
  NormSums<A> row(dy, x, gain, mean, n);
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    const V high = row.high, low(mean[2 * r + 1]), inverse(inverse_deviation[r]);
    const V sum_g = row.g.sum(), sum_gd = negative_multiply_add(low, sum_g, row.gd.sum());
    real *const d_gain = sums + r / block * 2 * n, *const d_bias = d_gain + n;
    const Index ahead = r + 1 == rows ? 0 : 1;  // after the last row: any
    const real *const next_dy = dy + ahead * n, *const next_x = x + ahead * n;
    const real* const next_mean = mean + 2 * (r + ahead);
    if (!__builtin_isfinite(first_lane<A>(sum_g) + first_lane<A>(sum_gd))) {
      plain_layer_norm_backward<A>(dy, x, gain, mean + 2 * r, inverse_deviation + r, dx, d_gain, 1,
                                   n, 1);
      row = NormSums<A>(next_dy, next_x, gain, next_mean, n);
      continue;
    }
    const V mean_g = sum_g * share, mean_gz = sum_gd * share * inverse;
    const V shift = negative<A>(low) * inverse;
    row = NormSums<A>(next_mean);
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) {
      row.add(next_dy, next_x, gain, i, part, k);
      const V up = load<A>(dy + i, part),
              z = multiply_add(load<A>(x + i, part) - high, inverse, shift);
      store<A>(d_gain + i, multiply_add(up, z, load<A>(d_gain + i, part)), kept(part));
      store<A>(d_bias + i, load<A>(d_bias + i, part) + up, kept(part));
      const V inner = up * load<A>(gain + i, part) - mean_g;
      store<A>(dx + i, inverse * negative_multiply_add(z, mean_gz, inner), part);
    });
  }
}

template <class A>
void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                         const real* inverse_deviation, real* dx, real* sums, Index rows, Index n,
                         Index block) {
  if (rows == 0 || n == 0) return;
  if (dx != dy && streams<A>(dx, x, rows, n) && aligned_rows<A>(dx, n)) {
    layer_norm_backward_rows<A, Stream>(dy, x, gain, mean, inverse_deviation, dx, sums, rows, n,
                                        block);
    finish_stream(true);
  } else {
    layer_norm_backward_rows<A, Full>(dy, x, gain, mean, inverse_deviation, dx, sums, rows, n,
                                      block);
  }
}

template <class A>
void fill_norm(Table& t) {
  plain_layer_norm<A> = t.layer_norm;
  plain_layer_norm_backward<A> = t.layer_norm_backward;
  t.layer_norm = layer_norm<A>;
  t.layer_norm_backward = layer_norm_backward<A>;
}

}  // namespace tapestry::kernels::simd
