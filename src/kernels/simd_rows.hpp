// Row kernels: softmax and its kin, layer normalisation. One row at a time, two or three sweeps;
// sums run in the lanes of a batch, in an order that depends on the row's length only.
#pragma once

#include "kernels/simd_math.hpp"

namespace tapestry::kernels::simd {

template <class A>
TAPESTRY_INLINE float row_max(const real* x, Index n) {
  Floats<A> largest(-infinity);
  sweep<A>(n, [&](Index i, auto part) {
    largest = maximum<A>(largest, load<A>(x + i, part, -infinity));
  });
  return fold_max<A>(largest);
}

// sum of exp(x - shift); y, where given, takes the terms. Lanes beyond the row hold exp(-inf) = 0.
template <class A>
TAPESTRY_INLINE float sum_exp(const real* x, real* y, Index n, float shift) {
  using V = Floats<A>;
  V total(0.0f);
  sweep<A>(n, [&](Index i, auto part) {
    const V e = Math<A>::exp(load<A>(x + i, part, -infinity) - V(shift));
    if (y != nullptr) store<A>(y + i, e, part);
    total += e;
  });
  return fold_sum<A>(total);
}

template <class A>
TAPESTRY_INLINE void fill_row(real* y, Index n, float value) {
  sweep<A>(n, [=](Index i, auto part) { store<A>(y + i, Floats<A>(value), part); });
}

template <class A>
void softmax(const real* x, real* y, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const float largest = row_max<A>(x, n);
    if (largest == -infinity) {
      fill_row<A>(y, n, 0.0f);
      continue;
    }
    const Floats<A> scale(1.0f / sum_exp<A>(x, y, n, largest));
    sweep<A>(n, [=](Index i, auto part) { store<A>(y + i, load<A>(y + i, part) * scale, part); });
  }
}

template <class A>
void log_softmax(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    const float largest = row_max<A>(x, n);
    if (largest == -infinity) {
      fill_row<A>(y, n, -infinity);
      continue;
    }
    const V log_total = Math<A>::log(V(sum_exp<A>(x, nullptr, n, largest)));
    sweep<A>(n, [=](Index i, auto part) {
      store<A>(y + i, (load<A>(x + i, part) - V(largest)) - log_total, part);
    });
  }
}

template <class A>
void logsumexp(const real* x, real* y, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, x += n) {
    const float largest = row_max<A>(x, n);
    y[r] = largest;  // the answer already where it is not finite
    if (!(largest - largest == 0)) continue;
    const V total = V(largest) + Math<A>::log(V(sum_exp<A>(x, nullptr, n, largest)));
    store<A>(y + r, total, Tail{1});
  }
}

template <class A>
void softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    V products(0.0f);
    sweep<A>(n, [&](Index i, auto part) {
      products = multiply_add(load<A>(dy + i, part), load<A>(y + i, part), products);
    });
    const V total(fold_sum<A>(products));
    sweep<A>(n, [=](Index i, auto part) {
      store<A>(dx + i, load<A>(y + i, part) * (load<A>(dy + i, part) - total), part);
    });
  }
}

template <class A>
void log_softmax_backward(const real* dy, const real* y, real* dx, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    V sums(0.0f);
    sweep<A>(n, [&](Index i, auto part) { sums += load<A>(dy + i, part); });
    const V total(fold_sum<A>(sums));
    sweep<A>(n, [=](Index i, auto part) {
      const V p = Math<A>::exp(load<A>(y + i, part));
      store<A>(dx + i, negative_multiply_add(p, total, load<A>(dy + i, part)), part);
    });
  }
}

template <class A>
void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, x += n, y += n) {
    V sums(0.0f), squares(0.0f);
    sweep<A>(n, [&](Index i, auto part) { sums += load<A>(x + i, part); });
    const float center = fold_sum<A>(sums) / float(n);
    sweep<A>(n, [&](Index i, auto part) {
      const V d = load<A>(x + i, part, center) - V(center);  // 0 beyond the row
      squares = multiply_add(d, d, squares);
    });
    const double variance = double(fold_sum<A>(squares)) / double(n);
    const float inverse = float(1 / std::sqrt(variance + double(epsilon)));
    sweep<A>(n, [=](Index i, auto part) {
      const V z = (load<A>(x + i, part) - V(center)) * V(inverse);
      store<A>(y + i, multiply_add(z, load<A>(gain + i, part), load<A>(bias + i, part)), part);
    });
    mean[r] = center;
    inverse_deviation[r] = inverse;
  }
}

template <class A>
void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                         const real* inverse_deviation, real* dx, real* d_gain, real* d_bias,
                         Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    const V center(mean[r]), inverse(inverse_deviation[r]);
    V sums_g(0.0f), sums_gz(0.0f);
    sweep<A>(n, [&](Index i, auto part) {
      const V g = load<A>(dy + i, part) * load<A>(gain + i, part);  // 0 beyond the row
      sums_g += g;
      sums_gz = multiply_add(g, (load<A>(x + i, part) - center) * inverse, sums_gz);
    });
    const V mean_g(fold_sum<A>(sums_g) / float(n)), mean_gz(fold_sum<A>(sums_gz) / float(n));
    sweep<A>(n, [=](Index i, auto part) {
      const V up = load<A>(dy + i, part), z = (load<A>(x + i, part) - center) * inverse;
      store<A>(d_gain + i, multiply_add(up, z, load<A>(d_gain + i, part)), part);
      store<A>(d_bias + i, load<A>(d_bias + i, part) + up, part);
      const V inner = up * load<A>(gain + i, part) - mean_g;
      store<A>(dx + i, inverse * negative_multiply_add(z, mean_gz, inner), part);
    });
  }
}

template <class A>
void cross_entropy_backward(const real* logits, const real* log_sum, const std::int32_t* target,
                            real scale, real* d_logits, Index rows, Index n) {
  using V = Floats<A>;
  for (Index r = 0; r < rows; ++r, logits += n, d_logits += n) {
    if (target[r] < 0) {
      fill_row<A>(d_logits, n, 0.0f);
      continue;
    }
    const V shift(log_sum[r]);
    sweep<A>(n, [=](Index i, auto part) {
      const V p = Math<A>::exp(load<A>(logits + i, part) - shift);
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
  t.layer_norm = layer_norm<A>;
  t.layer_norm_backward = layer_norm_backward<A>;
  t.cross_entropy_backward = cross_entropy_backward<A>;
}

}  // namespace tapestry::kernels::simd
