// Elementwise entries: one loop over batches per shape of operation, run for each function of
// functions.hpp and functions_of_two.hpp that has a SIMD form.
#pragma once

#include "kernels/simd_loops.hpp"
#include "kernels/simd_trigonometry.hpp"

namespace tapestry::kernels::simd {

// What the SIMD forms of functions are given as M: Math, with sine and cosine.
template <class A>
using All = Trigonometry<A>;

// TAPESTRY_BODY: the body stands in the loop; whether the function does, the compiler decides.

// y[i] = f(x[i]). Where a batch is a line of the caches, x is prefetched for slow functions: those
// off by more than 1 ULP, or with an absolute claim. (On Emerald Rapids GELU was 1.05 to 1.13 times
// as fast with it, exp from L2 on 1.05 to 1.1, tanh 0.99; ReLU in L1 was a fifth slower.)
template <class A, class F>
void unary(const real* x, real* y, Index n) {
  constexpr bool prefetches = lanes<A> == cache_line && (F::claim.ulp > 1 || F::claim.absolute > 0);
  const bool stream = streams_whole(y, n, x);
  sweep_out<A>(y, n, stream, [=](Index i, auto part) TAPESTRY_BODY {
    if constexpr (prefetches) fetch_near(x + i);
    store<A>(y + i, F::template simd<All<A>>(load<A>(x + i, part)), part);
  });
  finish_stream(stream);
}

// dx[i] = f(dy[i], saved[i])
template <class A, class F>
void unary_backward(const real* dy, const real* saved, real* dx, Index n) {
  const bool stream = streams_whole(dx, n, dy, saved);
  sweep_out<A>(dx, n, stream, [=](Index i, auto part) TAPESTRY_BODY {
    const Floats<A> up = load<A>(dy + i, part);
    store<A>(dx + i, F::template simd_backward<All<A>>(up, load<A>(saved + i, part)), part);
  });
  finish_stream(stream);
}

// One operand of an elementwise loop with two or three: an array, or one number repeated.
template <class A>
struct Operand {
  const real* data;
  Index step;
  Floats<A> same;  // every lane the first number; used where step is 0

  Operand(const real* p, Index s, Index n)
      : data(p), step(s), same(n > 0 ? Floats<A>(*p) : Floats<A>{}) {}

  template <class Part>
  TAPESTRY_INLINE Floats<A> at(Index i, Part part) const {
    return step == 0 ? same : load<A>(data + i, part);
  }
};

// y[i] = f(a[i], b[i])
template <class A, class F>
void binary(const real* a, Index a_step, const real* b, Index b_step, real* y, Index n) {
  const Operand<A> left(a, a_step, n), right(b, b_step, n);
  const bool stream = streams_whole(y, n, a, b);
  sweep_out<A>(y, n, stream, [&](Index i, auto part) TAPESTRY_BODY {
    store<A>(y + i, F::template simd<All<A>>(left.at(i, part), right.at(i, part)), part);
  });
  finish_stream(stream);
}

template <class A>
void select_loop(const real* condition, Index condition_step, const real* a, Index a_step,
                 const real* b, Index b_step, real* y, Index n) {
  using V = Floats<A>;
  const Operand<A> which(condition, condition_step, n), left(a, a_step, n), right(b, b_step, n);
  sweep<A>(n, [&](Index i, auto part) {
    const auto unwanted = which.at(i, part) == V(0.0f);  // false for NaN
    store<A>(y + i, xsimd::select(unwanted, right.at(i, part), left.at(i, part)), part);
  });
}

template <class A>
void sgd_loop(real* weight, const real* gradient, real* velocity, SgdStep step, Index n) {
  using V = Floats<A>;
  const V decay(step.rate * step.weight_decay);
  sweep<A>(n, [&](Index i, auto part) {
    const V g = load<A>(gradient + i, part), w = load<A>(weight + i, part);
    const V v = V(step.momentum) * load<A>(velocity + i, part) + g;
    store<A>(velocity + i, v, part);
    const V move = step.nesterov ? g + V(step.momentum) * v : v;
    store<A>(weight + i, (w - decay * w) - V(step.rate) * move, part);
  });
}

template <class A>
void adam_loop(real* weight, const real* gradient, real* mean, real* square, AdamStep step,
               Index n) {
  using V = Floats<A>;
  // One division and one root per weight: each takes as long as ten multiplications.
  const V rate(float(double(step.rate) / double(step.correction1)));
  const V per_correction2(float(1 / double(step.correction2))),
      decay(step.rate * step.weight_decay);
  sweep<A>(n, [&](Index i, auto part) {
    const V g = load<A>(gradient + i, part), w = load<A>(weight + i, part);
    const V m = V(step.beta1) * load<A>(mean + i, part) + V(1 - step.beta1) * g;
    const V s = V(step.beta2) * load<A>(square + i, part) + V(1 - step.beta2) * g * g;
    store<A>(mean + i, m, part);
    store<A>(square + i, s, part);
    const V deviation = square_root(s * per_correction2) + V(step.epsilon);
    store<A>(weight + i, (w - decay * w) - quotient(rate * m, deviation), part);
  });
}

template <class A>
void fill_elementwise(Table& t) {
  using M = All<A>;
  using V = Floats<A>;
  UnaryFunctions::each([&](auto f) {
    using F = decltype(f);
    constexpr int place = UnaryFunctions::place<F>();
    if constexpr (requires(V x) { F::template simd<M>(x); }) t.unary[place] = unary<A, F>;
    if constexpr (requires(V x) { F::template simd_backward<M>(x, x); }) {
      t.unary_backward[place] = unary_backward<A, F>;
    }
  });
  BinaryFunctions::each([&](auto f) {
    using F = decltype(f);
    if constexpr (requires(V x) { F::template simd<M>(x, x); }) {
      t.binary[BinaryFunctions::place<F>()] = binary<A, F>;
    }
  });
  t.select = select_loop<A>;
  t.sgd = sgd_loop<A>;
  t.adam = adam_loop<A>;
}

}  // namespace tapestry::kernels::simd
