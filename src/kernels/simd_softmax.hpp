// Softmax and its gradient. Sums run in the lanes of four batches, in an order that depends on the
// row's length only.
#pragma once

#include "kernels/simd_loops.hpp"
#include "kernels/simd_math.hpp"

namespace tapestry::kernels::simd {

// The largest number of a row, in every lane: -inf for none, NaN if any is.
template <class A>
TAPESTRY_INLINE Floats<A> true_max(const real* x, Index n) {
  Floats<A> largest(-infinity);
  sweep<A>(n, [&](Index i, auto part) {
    largest = maximum<A>(largest, load<A>(x + i, part, -infinity));
  });
  return Floats<A>(fold_max<A>(largest));
}

// The same from the largest of each lane, or from NaN in it: where the result is neither -inf nor
// inf, a NaN may have been missed. It will appear in the sum of all exp(x - largest).
template <class A>
TAPESTRY_INLINE Floats<A> checked_max(const real* x, Index n, const Floats<A>& most) {
  using V = Floats<A>;
  const auto either = [](const V& a, const V& b) { return larger<A>(a, b); };
  const V largest = spread<A>(most, either);
  return __builtin_isfinite(first_lane<A>(largest)) ? largest : true_max<A>(x, n);
}

template <class A>
TAPESTRY_INLINE Floats<A> row_max(const real* x, Index n) {
  Chains<A> most(-infinity);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    most.at[k] = larger<A>(load<A>(x + i, part, -infinity), most.at[k]);
  });
  const auto either = [](const Floats<A>& a, const Floats<A>& b) { return larger<A>(a, b); };
  return checked_max<A>(x, n, most.together(either));
}

// A longer running sum loses more digits. So rows longer than this add the sums of blocks, in
// double.
inline constexpr Index sum_block = 4096;

// sum_of(begin, end) over a whole row, in every lane.
template <class A, class Sum>
TAPESTRY_INLINE Floats<A> sum_of_blocks(Index n, Sum sum_of) {
  double total = 0;
  for (Index begin = 0; begin < n; begin += sum_block) {
    const Index end = n - begin < sum_block ? n : begin + sum_block;
    total += double(first_lane<A>(sum_of(begin, end)));
  }
  return Floats<A>(float(total));
}

// What a row of softmax waits for: x is lowered by `shift_of` its largest number, and what exp
// gives is multiplied by `factor_of` the sum. A row without a finite number becomes zeros.
template <class A>
TAPESTRY_INLINE Floats<A> shift_of(const Floats<A>& largest) {
  return xsimd::select(largest == Floats<A>(-infinity), Floats<A>(0.0f), largest);
}
template <class A>
TAPESTRY_INLINE Floats<A> factor_of(const Floats<A>& total) {
  return xsimd::select(total == Floats<A>(0.0f), total, quotient(Floats<A>(1.0f), total));
}

// A part of row r of softmax: held = exp(x - shift), in every lane the sum. At the same time the
// same part of an earlier row is multiplied by its factor and written to y, if `scales`, and the
// largest number of a later row is looked for: exp alone leaves half of a processor's units idle.
// x is loaded before anything is stored: arrays are often a multiple of 4096 bytes apart, and then
// the load would wait for the store (Zen 4: without this, rows of 1024 took 1.4 times as long).
// `is_long`: what comes is prefetched, also where it will be written (Zen 5: without, rows of
// 50257 took 1.05 to 1.26 times).
template <class A, class Whole, bool scales, bool is_long>
TAPESTRY_INLINE Floats<A> softmax_part(const real* x, const real* later, const real* earlier,
                                       real* y, real* held, Index n, const Floats<A>& shift,
                                       const Floats<A>& factor, Floats<A>& largest) {
  Chains<A> total(0.0f);
  Floats<A> most = largest;  // a copy stays in a register; four of them, of 16, did not
  sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) TAPESTRY_BODY {
    if constexpr (is_long && k * lanes<A> % cache_line == 0) {
      fetch_near(later + i);
      fetch_near(y + i);
    }
    most = larger<A>(load<A>(later + i, part, -infinity), most);
    const Floats<A> here = load<A>(x + i, part, -infinity);
    if constexpr (scales) store<A>(y + i, load<A>(earlier + i, part) * factor, part);
    const Floats<A> e = Math<A>::exp_below_88(here - shift);
    store<A>(held + i, e, kept(part));
    total.at[k] += e;
  });
  largest = most;
  return total.sum();
}

// The same for a row of any length.
template <class A, class Whole, bool scales, bool is_long>
TAPESTRY_INLINE Floats<A> softmax_row(const real* x, const real* later, const real* earlier,
                                      real* y, real* held, Index n, const Floats<A>& shift,
                                      const Floats<A>& factor, Floats<A>& most) {
  const auto part = [&](Index begin, Index end) TAPESTRY_BODY {
    return softmax_part<A, Whole, scales, is_long>(x + begin, later + begin, earlier + begin,
                                                   y + begin, held + begin, end - begin, shift,
                                                   factor, most);
  };
  return !is_long || n <= sum_block ? part(0, n) : sum_of_blocks<A>(n, part);
}

// Rows of up to 1 MB are held in scratch memory of this thread until they are multiplied by their
// factor: it stays in a cache, and y is written once. Longer ones are held in y.
inline constexpr Index longest_held = 1 << 18;

// What a row finds, its sum and the largest number of a row to come, is needed `apart` rows later.
template <class A, class Whole, Index apart>
TAPESTRY_INLINE void softmax_rows(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  constexpr bool is_long = apart == 1;
  V shift[apart], factor[apart];  // of rows r to r + apart - 1, and r - apart to r - 1
  for (Index i = 0; i < apart; ++i) {
    shift[i] = shift_of<A>(row_max<A>(i < rows ? x + i * n : x, n));
    factor[i] = V(0.0f);
  }
  real* const scratch = n <= longest_held ? workspace(apart * n) : nullptr;
  const auto held_row = [=](Index r) { return scratch ? scratch + r % apart * n : y + r * n; };
  for (Index r = 0; r < rows; ++r, x += n) {
    const real* const later = r + apart < rows ? x + apart * n : x;  // after the last: any
    const Index before = r < apart ? 0 : r - apart;
    const real* const earlier = held_row(before);
    real *const out = y + before * n, *const held = held_row(r);
    V most(-infinity);
    const V total = r < apart ? softmax_row<A, Full, false, is_long>(x, later, earlier, out, held,
                                                                     n, shift[0], factor[0], most)
                              : softmax_row<A, Whole, true, is_long>(x, later, earlier, out, held,
                                                                     n, shift[0], factor[0], most);
    for (Index i = 0; i + 1 < apart; ++i) shift[i] = shift[i + 1], factor[i] = factor[i + 1];
    shift[apart - 1] = shift_of<A>(checked_max<A>(later, n, most));
    factor[apart - 1] = factor_of<A>(total);
  }
  for (Index i = 0; i < apart && i < rows; ++i) {  // the last ones
    const Index r = rows - 1 - i;
    const real* const held = held_row(r);
    real* const out = y + r * n;
    const V by = factor[apart - 1 - i];
    sweep<A>(n, [=](Index j, auto part) { store<A>(out + j, load<A>(held + j, part) * by, part); });
  }
}

// Two rows apart, a short row need not wait for what the one before finds. Long rows are one apart:
// then four of them have to stay in the caches, in place of six. Large outputs of short rows
// bypass the caches where a batch is a whole line. With AVX2, and for long rows, nothing was gained
// (Zen 5).
template <class A>
void softmax(const real* x, real* y, Index rows, Index n) {
  if (rows == 0) return;
  if (n > 512) return softmax_rows<A, Full, 1>(x, y, rows, n);
  const bool stream = lanes<A> == cache_line && streams<A>(y, x, rows, n);
  stream ? softmax_rows<A, Stream, 2>(x, y, rows, n) : softmax_rows<A, Full, 2>(x, y, rows, n);
  finish_stream(stream);
}

// The sum of all a * b, in every lane.
template <class A>
TAPESTRY_INLINE Floats<A> sum_products(const real* a, const real* b, Index n) {
  return sum_of_blocks<A>(n, [&](Index begin, Index end) {
    Chains<A> total(0.0f);
    sweep_chains<A>(end - begin, [&](Index i, auto part, auto k) {
      if constexpr (k * lanes<A> % cache_line == 0) {
        fetch_near(a + begin + i);
        fetch_near(b + begin + i);
      }
      const Floats<A> x = load<A>(a + begin + i, part);
      total.at[k] = multiply_add(x, load<A>(b + begin + i, part), total.at[k]);
    });
    return total.sum();
  });
}

// dx = y * (dy - sum(dy * y)). While one row is written, the sum of the next is computed, so that
// memory reads and writes overlap.
template <class A, class Whole>
TAPESTRY_INLINE void softmax_backward_rows(const real* dy, const real* y, real* dx, Index rows,
                                           Index n) {
  using V = Floats<A>;
  V total = sum_products<A>(dy, y, n);
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const Index next = r + 1 < rows ? n : 0;  // the last reads itself, for a sum that is not used
    const real *const next_dy = dy + next, *const next_y = y + next;
    Chains<A> sums(0.0f);
    sweep_chains<A, Whole>(n, [&](Index i, auto part, auto k) {
      if constexpr (k * lanes<A> % cache_line == 0) {
        fetch_near(next_dy + i);
        fetch_near(next_y + i);
      }
      const V product = load<A>(y + i, part) * (load<A>(dy + i, part) - total);
      sums.at[k] = multiply_add(load<A>(next_dy + i, part), load<A>(next_y + i, part), sums.at[k]);
      store<A>(dx + i, product, part);
    });
    total = sums.sum() + V(0.0f);  // -0 becomes 0, as in sum_products
  }
}

// The same for rows whose sum takes more than a block: the next row comes to L2 meanwhile, and this
// one to L1, which has kept its end only.
template <class A>
TAPESTRY_INLINE void softmax_backward_long(const real* dy, const real* y, real* dx, Index rows,
                                           Index n, bool stream) {
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const Floats<A> total = sum_products<A>(dy, y, n);
    sweep_out<A>(dx, n, stream, [=](Index i, auto part) {
      fetch_near(dy + i);
      fetch_near(y + i);
      fetch(dy + i + n);
      fetch(y + i + n);
      store<A>(dx + i, load<A>(y + i, part) * (load<A>(dy + i, part) - total), part);
    });
  }
}

template <class A>
void softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  if (rows == 0) return;
  const bool stream = dx != dy && streams<A>(dx, y, rows, n);
  static_assert(sum_block <= longest_short_row,
                "rows of one block stream only if they are whole, aligned batches");
  if (n > sum_block) {
    softmax_backward_long<A>(dy, y, dx, rows, n, stream);
  } else if (stream) {
    softmax_backward_rows<A, Stream>(dy, y, dx, rows, n);
  } else {
    softmax_backward_rows<A, Full>(dy, y, dx, rows, n);
  }
  finish_stream(stream);
}

}  // namespace tapestry::kernels::simd
