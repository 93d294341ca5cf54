// Reductions: along contiguous numbers in four batches at once, or row upon row.
#pragma once

#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

struct Sum {
  static constexpr float start = 0.0f;
  template <class A>
  TAPESTRY_INLINE static Floats<A> of(const Floats<A>& a, const Floats<A>& b) {
    return a + b;
  }
  template <class A>
  TAPESTRY_INLINE static float all(const Floats<A>& x) {
    return fold_sum<A>(x);
  }
};

struct Max {
  static constexpr float start = -infinity;
  template <class A>
  TAPESTRY_INLINE static Floats<A> of(const Floats<A>& a, const Floats<A>& b) {
    return maximum<A>(a, b);
  }
  template <class A>
  TAPESTRY_INLINE static float all(const Floats<A>& x) {
    return fold_max<A>(x);
  }
};

struct Min {
  static constexpr float start = infinity;
  template <class A>
  TAPESTRY_INLINE static Floats<A> of(const Floats<A>& a, const Floats<A>& b) {
    return minimum<A>(a, b);
  }
  template <class A>
  TAPESTRY_INLINE static float all(const Floats<A>& x) {
    return fold_min<A>(x);
  }
};

// A longer running sum of floats loses more digits: so numbers are summed in blocks, and then the
// blocks' results.
inline constexpr Index run_block = 2048;   // numbers of one run; one lane sums 32 with AVX-512
inline constexpr Index column_block = 64;  // rows

template <class A, class R>
TAPESTRY_INLINE Floats<A> reduce_block(const real* x, Index n) {
  Chains<A> result(R::start);
  sweep_chains<A>(n, [&](Index i, auto part, auto k) {
    result.at[k] = R::template of<A>(result.at[k], load<A>(x + i, part, R::start));
  });
  return result.together(R::template of<A>);
}

template <class A, class R>
TAPESTRY_INLINE float reduce_run(const real* x, Index n) {
  Floats<A> result = reduce_block<A, R>(x, n < run_block ? n : run_block);
  for (Index i = run_block; i < n; i += run_block) {
    const Index count = n - i < run_block ? n - i : run_block;
    result = R::template of<A>(result, reduce_block<A, R>(x + i, count));
  }
  return R::template all<A>(result);
}

// out (columns) = what it held, and `length` rows, `row` apart
template <class A, class R>
TAPESTRY_INLINE void reduce_rows(const real* x, Index length, Index row, Index columns, real* out) {
  for (Index j = 0; j < length; ++j, x += row) {
    sweep<A>(columns, [=](Index i, auto part) {
      store<A>(out + i, R::template of<A>(load<A>(out + i, part), load<A>(x + i, part)), part);
    });
  }
}

// y (inner) from x (length, inner), in blocks of columns whose results stay in the first cache
template <class A, class R>
TAPESTRY_INLINE void reduce_columns(const real* x, Index length, Index inner, real* y) {
  constexpr Index width = 2048;
  alignas(64) real block[width];
  for (Index first = 0; first < inner; first += width) {
    const Index columns = inner - first < width ? inner - first : width;
    fill_with<A>(y + first, columns, R::start);
    for (Index j = 0; j < length; j += column_block) {
      const Index count = length - j < column_block ? length - j : column_block;
      const bool only = length <= column_block;
      real* const out = only ? y + first : block;
      if (!only) fill_with<A>(block, columns, R::start);
      reduce_rows<A, R>(x + j * inner + first, count, inner, columns, out);
      if (!only) reduce_rows<A, R>(block, 1, 0, columns, y + first);
    }
  }
}

// Narrow rows leave most lanes of a register empty. So 1024 / inner of them are treated as one:
// first their columns are reduced, then the rows of the result.
template <class A, class R>
TAPESTRY_INLINE void reduce_narrow(const real* x, Index length, Index inner, real* y) {
  constexpr Index width = 1024;
  alignas(64) real wide[width];
  const Index together = width / inner, groups = length / together;
  reduce_columns<A, R>(x, groups, together * inner, wide);
  reduce_columns<A, R>(wide, together, inner, y);
  const Index done = groups * together;
  reduce_rows<A, R>(x + done * inner, length - done, inner, inner, y);
}

template <class A, class R>
void reduce(const real* x, Index outer, Index length, Index inner, real* y) {
  for (Index o = 0; o < outer; ++o, x += length * inner, y += inner) {
    if (inner == 1) {
      *y = reduce_run<A, R>(x, length);
    } else if (inner <= 64 && length * inner >= 4096) {
      reduce_narrow<A, R>(x, length, inner, y);
    } else {
      reduce_columns<A, R>(x, length, inner, y);
    }
  }
}

// Squares of floats from 1e-19 to 1e19 are floats too; where a block's sum shows that some may not
// be, it is computed again in double.
template <class A>
double sum_squares(const real* x, Index n) {
  double total = 0;
  for (Index first = 0; first < n; first += run_block, x += run_block) {
    const Index count = n - first < run_block ? n - first : run_block;
    Chains<A> squares(0.0f);
    sweep_chains<A>(count, [&](Index i, auto part, auto k) {
      const Floats<A> v = load<A>(x + i, part);
      squares.at[k] = multiply_add(v, v, squares.at[k]);
    });
    double block = double(first_lane<A>(squares.sum()));
    if (!(block > 1e-25 && block < 1e38)) {
      block = 0;
      for (Index i = 0; i < count; ++i) block += double(x[i]) * double(x[i]);
    }
    total += block;
  }
  return total;
}

template <class A>
void fill_reductions(Table& t) {
  t.sum_squares = sum_squares<A>;
  t.sum = reduce<A, Sum>;
  t.max = reduce<A, Max>;
  t.min = reduce<A, Min>;
}

}  // namespace tapestry::kernels::simd
