// Layer normalisation.
#pragma once

#include <cmath>

#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

template <class A>
TAPESTRY_INLINE bool aligned_rows(const real* y, Index n) {
  return n % lanes<A> == 0 && reinterpret_cast<std::uintptr_t>(y) % sizeof(Floats<A>) == 0;
}

// Layer normalisation needs a row twice, the second time to write. While one row is written the
// next is read for the first time, so that memory is read and written all the while.

template <class A, class Whole>
TAPESTRY_INLINE void layer_norm_rows(const real* x, const real* gain, const real* bias,
                                     real epsilon, real* y, real* mean, real* inverse_deviation,
                                     Index rows, Index n) {
  using V = Floats<A>;
  Chains<A> sums(0.0f);
  if (rows == 0) return;
  sweep_chains<A>(n, [&](Index i, auto part, auto k) { sums.at[k] += load<A>(x + i, part); });
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const V center = quotient<A>(sums.sum(), V(float(n)));
    const float beyond = first_lane<A>(center);
    Chains<A> squares(0.0f);
    sweep_chains<A>(n, [&](Index i, auto part, auto k) {
      const V d = load<A>(x + i, part, beyond) - center;  // 0 beyond the row
      squares.at[k] = multiply_add(d, d, squares.at[k]);
    });
    const double variance = double(first_lane<A>(squares.sum())) / double(n);
    const V inverse(float(1 / std::sqrt(variance + double(epsilon))));
    const real* const next = r + 1 < rows ? x + n : x;  // after the last row: any
    sums = Chains<A>(0.0f);
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) {
      const V z = (load<A>(x + i, part) - center) * inverse;
      sums.at[k] += load<A>(next + i, part);
      store<A>(y + i, multiply_add(z, load<A>(gain + i, part), load<A>(bias + i, part)), part);
    });
    mean[r] = beyond;
    inverse_deviation[r] = first_lane<A>(inverse);
  }
}

template <class A>
void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index rows, Index n) {
  if (streams(y, x, rows, n) && aligned_rows<A>(y, n)) {
    layer_norm_rows<A, Stream>(x, gain, bias, epsilon, y, mean, inverse_deviation, rows, n);
    finish_stream(true);
  } else {
    layer_norm_rows<A, Full>(x, gain, bias, epsilon, y, mean, inverse_deviation, rows, n);
  }
}

// What a row's gradient needs to know of the whole row: sum(g) and sum(g * (x - mean))
template <class A>
struct NormSums {
  Chains<A> g{0.0f}, gd{0.0f};

  template <class Part, class K>
  TAPESTRY_INLINE void add(const real* dy, const real* x, const real* gain, const Floats<A>& center,
                           Index i, Part part, K k) {
    const Floats<A> up = load<A>(dy + i, part) * load<A>(gain + i, part);  // 0 beyond the row
    g.at[k] += up;
    gd.at[k] = multiply_add(up, load<A>(x + i, part) - center, gd.at[k]);
  }
};

template <class A, class Whole>
TAPESTRY_INLINE void layer_norm_backward_rows(const real* dy, const real* x, const real* gain,
                                              const real* mean, const real* inverse_deviation,
                                              real* dx, real* sums, Index rows, Index n,
                                              Index block) {
  using V = Floats<A>;
  const V first(mean[0]), share(1.0f / float(n));
  NormSums<A> row;
  sweep_chains<A>(n, [&](Index i, auto part, auto k) { row.add(dy, x, gain, first, i, part, k); });
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    const V center(mean[r]), inverse(inverse_deviation[r]);
    const V mean_g = row.g.sum() * share, mean_gz = row.gd.sum() * share * inverse;
    real *const d_gain = sums + r / block * 2 * n, *const d_bias = d_gain + n;
    const bool last = r + 1 == rows;  // then "the next row" is any
    const real *const next_dy = last ? dy : dy + n, *const next_x = last ? x : x + n;
    const V next_center(mean[last ? r : r + 1]);
    row = NormSums<A>();
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) {
      row.add(next_dy, next_x, gain, next_center, i, part, k);
      const V up = load<A>(dy + i, part), z = (load<A>(x + i, part) - center) * inverse;
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
  if (rows == 0) return;
  if (dx != dy && streams(dx, x, rows, n) && aligned_rows<A>(dx, n)) {
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
  t.layer_norm = layer_norm<A>;
  t.layer_norm_backward = layer_norm_backward<A>;
}

}  // namespace tapestry::kernels::simd
