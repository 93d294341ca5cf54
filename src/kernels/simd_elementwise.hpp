// Elementwise entries: one loop over batches per shape of operation, one line per operation.
#pragma once

#include "kernels/simd_loops.hpp"
#include "kernels/simd_math.hpp"
#include "kernels/simd_trigonometry.hpp"

namespace tapestry::kernels::simd {

// y[i] = f(x[i])
template <class A, class F>
Unary unary(F) {
  return [](const real* x, real* y, Index n) {
    const bool stream = y != x && n >= stream_from;
    sweep_out<A>(y, n, stream,
                 [=](Index i, auto part) { store<A>(y + i, F{}(load<A>(x + i, part)), part); });
    finish_stream(stream);
  };
}

// dx[i] = f(dy[i], saved[i])
template <class A, class F>
UnaryBackward backward(F) {
  return [](const real* dy, const real* saved, real* dx, Index n) {
    const bool stream = dx != dy && dx != saved && n >= stream_from;
    sweep_out<A>(dx, n, stream, [=](Index i, auto part) {
      store<A>(dx + i, F{}(load<A>(dy + i, part), load<A>(saved + i, part)), part);
    });
    finish_stream(stream);
  };
}

// One operand of an elementwise loop with two or three: an array, or one number repeated.
template <class A>
struct Operand {
  const real* data;
  Index step;
  Floats<A> same;  // every lane the first number; used where step is 0

  Operand(const real* p, Index s, Index n) : data(p), step(s), same(n > 0 ? *p : 0.0f) {}

  template <class Part>
  TAPESTRY_INLINE Floats<A> at(Index i, Part part) const {
    return step == 0 ? same : load<A>(data + i, part);
  }
};

// y[i] = f(a[i], b[i])
template <class A, class F>
Binary binary(F) {
  return [](const real* a, Index a_step, const real* b, Index b_step, real* y, Index n) {
    const Operand<A> left(a, a_step, n), right(b, b_step, n);
    const bool stream = y != a && y != b && n >= stream_from;
    sweep_out<A>(y, n, stream, [&](Index i, auto part) {
      store<A>(y + i, F{}(left.at(i, part), right.at(i, part)), part);
    });
    finish_stream(stream);
  };
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
void fill_two_operands(Table& t) {
  using V = Floats<A>;
  t.add = binary<A>([](V a, V b) { return a + b; });
  t.subtract = binary<A>([](V a, V b) { return a - b; });
  t.multiply = binary<A>([](V a, V b) { return a * b; });
  t.divide = binary<A>([](V a, V b) { return quotient(a, b); });
  t.maximum = binary<A>([](V a, V b) { return maximum<A>(a, b); });
  t.minimum = binary<A>([](V a, V b) { return minimum<A>(a, b); });
  t.equal = binary<A>([](V a, V b) { return xsimd::select(a == b, V(1.0f), V(0.0f)); });
  t.less = binary<A>([](V a, V b) { return xsimd::select(a < b, V(1.0f), V(0.0f)); });
  t.select = select_loop<A>;
  t.sgd = sgd_loop<A>;
  t.adam = adam_loop<A>;
}  // power stays with the reference

template <class A>
void fill_one_operand(Table& t) {
  using V = Floats<A>;
  using M = Math<A>;
  t.negate = unary<A>([](V x) { return negative(x); });
  t.sqrt = unary<A>([](V x) { return square_root(x); });
  t.exp = unary<A>([](V x) { return M::exp(x); });
  t.log = unary<A>([](V x) { return M::log(x); });
  t.sin = unary<A>([](V x) { return Trigonometry<A>::sin(x); });
  t.cos = unary<A>([](V x) { return Trigonometry<A>::cos(x); });
  t.tanh = unary<A>([](V x) { return M::tanh(x); });
  t.erf = unary<A>([](V x) { return M::erf(x); });
  t.sigmoid = unary<A>([](V x) { return M::sigmoid(x); });
  t.relu = unary<A>([](V x) { return M::relu(x); });
  t.elu = unary<A>([](V x) { return M::elu(x); });
  t.gelu = unary<A>([](V x) { return M::gelu(x); });
  t.gelu_tanh = unary<A>([](V x) { return M::gelu_tanh(x); });
  t.softplus = unary<A>([](V x) { return M::softplus(x); });
}

template <class A>
void fill_backward(Table& t) {
  using V = Floats<A>;
  using M = Math<A>;
  t.tanh_backward = backward<A>([](V dy, V y) { return dy * (V(1.0f) - y * y); });
  t.sigmoid_backward = backward<A>([](V dy, V y) { return dy * y * (V(1.0f) - y); });
  t.relu_backward = backward<A>([](V dy, V y) { return xsimd::select(y <= V(0.0f), V(0.0f), dy); });
  t.elu_backward =
      backward<A>([](V dy, V y) { return xsimd::select(y > V(0.0f), dy, dy * (y + V(1.0f))); });
  t.gelu_backward = backward<A>([](V dy, V x) { return dy * M::gelu_slope(x); });
  t.gelu_tanh_backward = backward<A>([](V dy, V x) { return dy * M::gelu_tanh_slope(x); });
  t.softplus_backward = backward<A>([](V dy, V x) { return dy * M::sigmoid(x); });
}

}  // namespace tapestry::kernels::simd
