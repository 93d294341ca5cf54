// Reductions: along contiguous numbers in four batches at once, or row upon row.
#pragma once

#include "kernels/simd.hpp"

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

// Four running batches: one alone would wait for each addition to finish.
template <class A, class R>
TAPESTRY_INLINE float reduce_run(const real* x, Index n) {
  using V = Floats<A>;
  constexpr Index step = 4 * lanes<A>;
  V a(R::start), b(R::start), c(R::start), d(R::start);
  Index i = 0;
  for (; i + step <= n; i += step) {
    a = R::template of<A>(a, V::load_unaligned(x + i));
    b = R::template of<A>(b, V::load_unaligned(x + i + lanes<A>));
    c = R::template of<A>(c, V::load_unaligned(x + i + 2 * lanes<A>));
    d = R::template of<A>(d, V::load_unaligned(x + i + 3 * lanes<A>));
  }
  sweep<A>(n - i, [&](Index j, auto part) {
    a = R::template of<A>(a, load<A>(x + i + j, part, R::start));
  });
  return R::template all<A>(R::template of<A>(R::template of<A>(a, b), R::template of<A>(c, d)));
}

// y (inner) from x (length, inner), in blocks of columns whose results stay in the first cache
template <class A, class R>
TAPESTRY_INLINE void reduce_columns(const real* x, Index length, Index inner, real* y) {
  constexpr Index block = 2048;
  for (Index first = 0; first < inner; first += block) {
    const Index columns = inner - first < block ? inner - first : block;
    real* out = y + first;
    sweep<A>(columns, [=](Index i, auto part) { store<A>(out + i, Floats<A>(R::start), part); });
    for (Index j = 0; j < length; ++j) {
      const real* row = x + j * inner + first;
      sweep<A>(columns, [=](Index i, auto part) {
        store<A>(out + i, R::template of<A>(load<A>(out + i, part), load<A>(row + i, part)), part);
      });
    }
  }
}

template <class A, class R>
void reduce(const real* x, Index outer, Index length, Index inner, real* y) {
  for (Index o = 0; o < outer; ++o, x += length * inner, y += inner) {
    if (inner == 1) {
      *y = reduce_run<A, R>(x, length);
    } else {
      reduce_columns<A, R>(x, length, inner, y);
    }
  }
}

template <class A>
void fill_reductions(Table& t) {
  t.sum = reduce<A, Sum>;
  t.max = reduce<A, Max>;
  t.min = reduce<A, Min>;
}

}  // namespace tapestry::kernels::simd
