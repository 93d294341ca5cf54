// Root mean square normalisation (Zhang & Sennrich 2019).
#pragma once

#include <cmath>

#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

// The plain loops, in double: for a row whose sums overflow here, or that holds a NaN.
template <class A>
decltype(Table::rms_norm) plain_rms_norm = nullptr;
template <class A>
decltype(Table::rms_norm_backward) plain_rms_norm_backward = nullptr;

template <class A>
TAPESTRY_INLINE float row_squares(const real* x, Index n) {
  Chains<A> squares(0.0f);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    const Floats<A> v = load<A>(x + i, part);
    squares.at[k] = multiply_add(v, v, squares.at[k]);
  });
  return first_lane<A>(squares.sum());
}

template <class A>
void rms_norm(const real* x, const real* gain, real epsilon, real* y, real* inverse_rms, Index rows,
              Index n) {
  using V = Floats<A>;
  const bool stream = streams<A>(y, x, rows, n);
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const float squares = row_squares<A>(x, n);
    if (!(squares > 1e-25f && squares < infinity)) {  // some squares may have been no floats
      plain_rms_norm<A>(x, gain, epsilon, y, inverse_rms + r, 1, n);
      continue;
    }
    inverse_rms[r] = float(1 / std::sqrt(double(squares) / double(n) + double(epsilon)));
    const V inverse(inverse_rms[r]);
    sweep_out<A>(y, n, stream, [&](Index i, auto part) {
      store<A>(y + i, load<A>(x + i, part) * inverse * load<A>(gain + i, part), part);
    });
  }
  finish_stream(stream);
}

template <class A, class Whole>
TAPESTRY_INLINE void rms_norm_backward_rows(const real* dy, const real* x, const real* gain,
                                            const real* inverse_rms, real* dx, real* sums,
                                            Index rows, Index n, Index block) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    Chains<A> chains(0.0f);
    sweep_chains<A>(n, [&](Index i, auto part, auto k) {
      const V up = load<A>(dy + i, part) * load<A>(gain + i, part);
      chains.at[k] = multiply_add(up, load<A>(x + i, part), chains.at[k]);
    });
    const float sum_gx = first_lane<A>(chains.sum());
    real* const share = sums + r / block * n;
    if (!__builtin_isfinite(sum_gx)) {
      plain_rms_norm_backward<A>(dy, x, gain, inverse_rms + r, dx, share, 1, n, 1);
      continue;
    }
    const V inverse(inverse_rms[r]);
    const V mean_gz(float(double(sum_gx) / double(n) * double(inverse_rms[r])));
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto) {
      const V z = load<A>(x + i, part) * inverse, up = load<A>(dy + i, part);
      store<A>(share + i, multiply_add(up, z, load<A>(share + i, part)), kept(part));
      store<A>(dx + i, inverse * negative_multiply_add(z, mean_gz, up * load<A>(gain + i, part)),
               part);
    });
  }
}

template <class A>
void rms_norm_backward(const real* dy, const real* x, const real* gain, const real* inverse_rms,
                       real* dx, real* sums, Index rows, Index n, Index block) {
  if (dx != dy && streams<A>(dx, x, rows, n) && aligned_rows<A>(dx, n)) {
    rms_norm_backward_rows<A, Stream>(dy, x, gain, inverse_rms, dx, sums, rows, n, block);
    finish_stream(true);
  } else {
    rms_norm_backward_rows<A, Full>(dy, x, gain, inverse_rms, dx, sums, rows, n, block);
  }
}

template <class A>
void fill_rms_norm(Table& t) {
  plain_rms_norm<A> = t.rms_norm;
  plain_rms_norm_backward<A> = t.rms_norm_backward;
  t.rms_norm = rms_norm<A>;
  t.rms_norm_backward = rms_norm_backward<A>;
}

}  // namespace tapestry::kernels::simd
