// Softmax, log_softmax, logsumexp and cross entropy. One row at a time, in two or three sweeps, the
// first of which loads the row into the cache; sums run in the lanes of four batches, in an order
// that depends on the row's length only.
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

// The same from the largest of each chain of lanes, or from NaN in it: where the result is neither
// -inf nor inf, a NaN may have been missed. It will appear in the sum of all exp(x - largest).
template <class A>
TAPESTRY_INLINE Floats<A> checked_max(const real* x, Index n, const Chains<A>& most) {
  using V = Floats<A>;
  const auto either = [](const V& a, const V& b) { return larger<A>(a, b); };
  const V largest = spread<A>(most.together(either), either);
  return __builtin_isfinite(first_lane<A>(largest)) ? largest : true_max<A>(x, n);
}

template <class A>
TAPESTRY_INLINE Floats<A> row_max(const real* x, Index n) {
  Chains<A> most(-infinity);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    most.at[k] = larger<A>(load<A>(x + i, part, -infinity), most.at[k]);
  });
  return checked_max<A>(x, n, most);
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

// sum of exp(x - shift), in every lane; y, if given, receives the terms. shift is the row's
// maximum, so that terms below the least normal float, 1e-38 of the largest, become 0. Lanes beyond
// the row hold exp(-inf) = 0. What is `ahead` is prefetched meanwhile.
template <class A, bool keep>
TAPESTRY_INLINE Floats<A> block_sum_exp(const real* x, real* y, Index n, const Floats<A>& shift,
                                        Index ahead) {
  Chains<A> total(0.0f);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    fetch(x + i + ahead);
    const Floats<A> e = Math<A>::exp_below_88(load<A>(x + i, part, -infinity) - shift);
    if constexpr (keep) store<A>(y + i, e, part);
    total.at[k] += e;
  });
  return total.sum();
}

// The same for a row of any length; prefetches the next row.
template <class A, bool keep>
TAPESTRY_INLINE Floats<A> sum_exp(const real* x, real* y, Index n, const Floats<A>& shift) {
  if (n <= sum_block) return block_sum_exp<A, keep>(x, y, n, shift, fetch_distance(n));
  return sum_of_blocks<A>(n, [&](Index begin, Index end) {
    return block_sum_exp<A, keep>(x + begin, keep ? y + begin : y, end - begin, shift, n);
  });
}

// The sum of all a * b, in every lane.
template <class A>
TAPESTRY_INLINE Floats<A> sum_products(const real* a, const real* b, Index n) {
  return sum_of_blocks<A>(n, [&](Index begin, Index end) {
    Chains<A> total(0.0f);
    sweep_chains<A>(end - begin, [&](Index i, auto part, auto k) {
      const Floats<A> x = load<A>(a + begin + i, part);
      total.at[k] = multiply_add(x, load<A>(b + begin + i, part), total.at[k]);
    });
    return total.sum();
  });
}

template <class A>
TAPESTRY_INLINE Floats<A> sum_row(const real* a, Index n) {
  return sum_of_blocks<A>(n, [&](Index begin, Index end) {
    Chains<A> total(0.0f);
    sweep_chains<A>(end - begin, [&](Index i, auto part, auto k) {
      total.at[k] += load<A>(a + begin + i, part);
    });
    return total.sum();
  });
}

// What a row of softmax waits for: x is lowered by its largest number, and what exp gives is
// multiplied by `factor`. A row without a finite number becomes zeros.
template <class A>
struct RowScale {
  Floats<A> shift, factor;
  explicit RowScale(const Floats<A>& largest)
      : shift(xsimd::select(largest == Floats<A>(-infinity), Floats<A>(0.0f), largest)),
        factor(0.0f) {}
  TAPESTRY_INLINE void divide_by(const Floats<A>& total) {
    factor = xsimd::select(total == Floats<A>(0.0f), total, quotient(Floats<A>(1.0f), total));
  }
};

// Row r of softmax: y = exp(x - shift). At the same time row r - 2 is multiplied by its factor, if
// `scales`, and the largest number of row r + 2 is found: exp alone leaves half of a processor's
// units idle, and the results have a row's time to come.
template <class A, bool scales>
TAPESTRY_INLINE Chains<A> softmax_row(const real* x, const real* later, real* y, Index n,
                                      const Floats<A>& shift, const Floats<A>& factor,
                                      Chains<A>& most) {
  Chains<A> total(0.0f);
  real* const earlier = y - (scales ? 2 * n : 0);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    most.at[k] = larger<A>(load<A>(later + i, part, -infinity), most.at[k]);
    if constexpr (scales) store<A>(earlier + i, load<A>(earlier + i, part) * factor, part);
    const Floats<A> e = Math<A>::exp_below_88(load<A>(x + i, part, -infinity) - shift);
    store<A>(y + i, e, part);
    total.at[k] += e;
  });
  return total;
}

// Rows of which five stay in the first cache, beside their results.
inline constexpr Index short_row = 512;

template <class A>
void softmax_short(const real* x, real* y, Index rows, Index n) {
  using Scale = RowScale<A>;
  const auto scale_row = [n](real* row, const Floats<A>& factor) {
    sweep<A>(n,
             [=](Index i, auto part) { store<A>(row + i, load<A>(row + i, part) * factor, part); });
  };
  // of rows r - 2, r - 1, r, r + 1
  Scale row[4] = {Scale(Floats<A>(0.0f)), Scale(Floats<A>(0.0f)), Scale(row_max<A>(x, n)),
                  Scale(row_max<A>(rows > 1 ? x + n : x, n))};
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const real* const later = r + 2 < rows ? x + 2 * n : x;  // after the last: any
    Chains<A> most(-infinity);
    const Chains<A> total =
        r < 2 ? softmax_row<A, false>(x, later, y, n, row[2].shift, row[0].factor, most)
              : softmax_row<A, true>(x, later, y, n, row[2].shift, row[0].factor, most);
    row[2].divide_by(total.sum());
    row[0] = row[1], row[1] = row[2], row[2] = row[3];
    row[3] = Scale(checked_max<A>(later, n, most));
  }
  if (rows > 1) scale_row(y - 2 * n, row[0].factor);
  scale_row(y - n, row[1].factor);
}

template <class A>
void softmax(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  if (n <= short_row && rows > 0) return softmax_short<A>(x, y, rows, n);
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const V largest = row_max<A>(x, n);
    if (first_lane<A>(largest) == -infinity) {
      fill_with<A>(y, n, 0.0f);
      continue;
    }
    const V scale = quotient(V(1.0f), sum_exp<A, true>(x, y, n, largest));
    sweep<A>(n, [=](Index i, auto part) { store<A>(y + i, load<A>(y + i, part) * scale, part); });
  }
}

// For each of up to log_rows rows: its largest number and log(sum(exp(x - largest))), 0 where the
// largest is -inf. The logarithms are computed for all rows at once, since one takes as long as 16.
inline constexpr Index log_rows = 16;

template <class A>
TAPESTRY_INLINE void log_totals(const real* x, Index rows, Index n, float* largest, float* log) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, x += n) {
    const V most = row_max<A>(x, n);
    largest[r] = first_lane<A>(most);
    log[r] = 1;
    if (largest[r] != -infinity) log[r] = first_lane<A>(sum_exp<A, false>(x, nullptr, n, most));
  }
  sweep<A>(rows, [=](Index i, auto part) {
    store<A>(log + i, Math<A>::log(load<A>(log + i, part)), part);
  });
}

template <class A>
void log_softmax(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  const bool stream = streams(y, x, rows, n);
  const Index group = n <= 256 ? log_rows : 1;  // they stay in the first cache
  float largest[log_rows];
  float log[log_rows];
  for (Index first = 0; first < rows; first += group) {
    const Index end = rows - first < group ? rows - first : group;
    log_totals<A>(x, end, n, largest, log);
    for (Index r = 0; r < end; ++r, x += n, y += n) {
      const V high(largest[r] == -infinity ? 0.0f : largest[r]), low(log[r]);
      sweep_out<A>(y, n, stream, [=](Index i, auto part) {
        store<A>(y + i, (load<A>(x + i, part) - high) - low, part);
      });
    }
  }
  finish_stream(stream);
}

template <class A>
void logsumexp(const real* x, real* y, Index rows, Index n) {
  float largest[log_rows];
  float log[log_rows];
  for (Index first = 0; first < rows; first += log_rows, x += log_rows * n, y += log_rows) {
    const Index end = rows - first < log_rows ? rows - first : log_rows;
    log_totals<A>(x, end, n, largest, log);
    sweep<A>(end, [&](Index i, auto part) {
      const Floats<A> high = load<A>(largest + i, part), sum = high + load<A>(log + i, part);
      store<A>(y + i, xsimd::select(high == Floats<A>(infinity), high, sum), part);
    });
  }
}

template <class A>
void softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  using V = Floats<A>;
  const bool stream = dx != dy && streams(dx, y, rows, n);
  const Index ahead = fetch_distance(n);
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const V total = sum_products<A>(dy, y, n);
    sweep_out<A>(dx, n, stream, [=](Index i, auto part) {
      fetch(dy + i + ahead);
      fetch(y + i + ahead);
      store<A>(dx + i, load<A>(y + i, part) * (load<A>(dy + i, part) - total), part);
    });
  }
  finish_stream(stream);
}

template <class A>
void log_softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  using V = Floats<A>;
  const bool stream = dx != dy && streams(dx, y, rows, n);
  const Index ahead = fetch_distance(n);
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    if (first_lane<A>(row_max<A>(y, n)) == -infinity) {  // fully masked
      fill_with<A>(dx, n, 0.0f);
      continue;
    }
    const V total = sum_row<A>(dy, n);
    sweep_out<A>(dx, n, stream, [=](Index i, auto part) {
      fetch(dy + i + ahead);
      fetch(y + i + ahead);
      const V p = Math<A>::exp_below_88(load<A>(y + i, part));
      store<A>(dx + i, negative_multiply_add(p, total, load<A>(dy + i, part)), part);
    });
  }
  finish_stream(stream);
}

template <class A>
void cross_entropy_backward(const real* logits, const real* log_sum, const std::int32_t* target,
                            real scale, real* d_logits, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, logits += n, d_logits += n) {
    if (target[r] < 0) {
      fill_with<A>(d_logits, n, 0.0f);
      continue;
    }
    const V shift(log_sum[r]);
    sweep<A>(n, [=](Index i, auto part) {
      const V p = Math<A>::exp_below_88(load<A>(logits + i, part) - shift);
      store<A>(d_logits + i, p * V(scale), part);
    });
    d_logits[target[r]] -= scale;
  }
}

template <class A>
void fill_rows(Table& t) {
  t.softmax = softmax<A>;
  t.log_softmax = log_softmax<A>;
  t.logsumexp = logsumexp<A>;
  t.softmax_backward = softmax_backward<A>;
  t.log_softmax_backward = log_softmax_backward<A>;
  t.cross_entropy_backward = cross_entropy_backward<A>;
}

}  // namespace tapestry::kernels::simd
