// log_softmax, logsumexp and cross entropy. Sums run in the same order as in simd_softmax.hpp.
#pragma once

#include "kernels/simd_softmax.hpp"

namespace tapestry::kernels::simd {

// sum of exp(x - shift), in every lane. shift is the row's maximum, so that terms below the least
// normal float, 1e-38 of the largest, may become 0. Lanes beyond the row hold exp(-inf) = 0. What
// is `ahead` is prefetched meanwhile.
template <class A>
TAPESTRY_INLINE Floats<A> block_sum_exp(const real* x, Index n, const Floats<A>& shift,
                                        Index ahead) {
  Chains<A> total(0.0f);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    fetch(x + i + ahead);
    total.at[k] += Math<A>::exp_below_88(load<A>(x + i, part, -infinity) - shift);
  });
  return total.sum();
}

// The same for a row of any length; prefetches the next row.
template <class A>
TAPESTRY_INLINE Floats<A> sum_exp(const real* x, Index n, const Floats<A>& shift) {
  if (n <= sum_block) return block_sum_exp<A>(x, n, shift, fetch_distance(n));
  return sum_of_blocks<A>(n, [&](Index begin, Index end) {
    return block_sum_exp<A>(x + begin, end - begin, shift, n);
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
    if (largest[r] != -infinity) log[r] = first_lane<A>(sum_exp<A>(x, n, most));
  }
  sweep<A>(rows, [=](Index i, auto part) {
    store<A>(log + i, Math<A>::log(load<A>(log + i, part)), part);
  });
}

template <class A>
void log_softmax(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  const bool stream = streams<A>(y, x, rows, n);
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
void log_softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  using V = Floats<A>;
  const bool stream = dx != dy && streams<A>(dx, y, rows, n);
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
