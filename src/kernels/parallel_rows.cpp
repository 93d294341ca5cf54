// Drivers of reductions and of kernels that work row by row.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/parallel_all.hpp"

namespace tapestry::kernels {
namespace {

// Reductions over more than this many numbers per output row are divided into blocks whose results
// are reduced in turn: for parallel work, and for shorter chains of float additions.
constexpr Index reduce_block = 32768;

// Rows with one partial sum of the gain's and the bias's gradient.
constexpr Index norm_block = 64;

}  // namespace

void reduce(Reduce kernel, const real* x, Index outer, Index length, Index inner, real* y) {
  const Index block = std::max<Index>(16, reduce_block / std::max<Index>(inner, 1));
  if (length <= 2 * block) {
    parallel_parts(outer, row_grain(length * inner), [=](Index begin, Index end) {
      kernel(x + begin * length * inner, end - begin, length, inner, y + begin * inner);
    });
    return;
  }
  const Index blocks = (length + block - 1) / block;
  real* partial = workspace(outer * blocks * inner);  // (outer, blocks, inner)
  parallel_parts(outer * blocks, 1, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i % blocks * block, count = std::min(block, length - first);
      kernel(x + (i / blocks * length + first) * inner, 1, count, inner, partial + i * inner);
    }
  });
  kernel(partial, outer, blocks, inner, y);
}

double sum_squares(const real* x, Index n) {
  const Table& t = active();
  const Index blocks = (n + reduce_block - 1) / reduce_block;
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  double* const sum = sums.data();
  parallel_parts(blocks, 2, [=, &t](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i * reduce_block;
      sum[i] = t.sum_squares(x + first, std::min(reduce_block, n - first));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void rows(Rows kernel, const real* x, real* y, Index row_count, Index n) {
  parallel_parts(row_count, row_grain(n), [=](Index begin, Index end) {
    kernel(x + begin * n, y + begin * n, end - begin, n);
  });
}

void rows_backward(RowsBackward kernel, const real* dy, const real* y, real* dx, Index row_count,
                   Index n) {
  parallel_parts(row_count, row_grain(n), [=](Index begin, Index end) {
    kernel(dy + begin * n, y + begin * n, dx + begin * n, end - begin, n);
  });
}

void logsumexp(const real* x, real* y, Index row_count, Index n) {
  const Table& t = active();
  parallel_parts(row_count, row_grain(n), [=, &t](Index begin, Index end) {
    t.logsumexp(x + begin * n, y + begin, end - begin, n);
  });
}

void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index row_count, Index n) {
  const Table& t = active();
  parallel_parts(row_count, row_grain(n), [=, &t](Index begin, Index end) {
    t.layer_norm(x + begin * n, gain, bias, epsilon, y + begin * n, mean + 2 * begin,
                 inverse_deviation + begin, end - begin, n);
  });
}

void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                         const real* inverse_deviation, real* dx, real* d_gain, real* d_bias,
                         Index row_count, Index n) {
  const Table& t = active();
  const Index blocks = (row_count + norm_block - 1) / norm_block;
  real* partial = workspace(blocks * 2 * n);  // (blocks, gain then bias, n)
  std::fill(partial, partial + blocks * 2 * n, real(0));
  parallel_parts(blocks, row_grain(norm_block * n), [=, &t](Index begin, Index end) {
    const Index first = begin * norm_block, last = std::min(end * norm_block, row_count);
    t.layer_norm_backward(dy + first * n, x + first * n, gain, mean + 2 * first,
                          inverse_deviation + first, dx + first * n, partial + begin * 2 * n,
                          last - first, n, norm_block);
  });
  for (Index i = 0; i < blocks; ++i) {
    const real* sums = partial + i * 2 * n;
    t.of<Add>()(d_gain, 1, sums, 1, d_gain, n);
    t.of<Add>()(d_bias, 1, sums + n, 1, d_bias, n);
  }
}

void rms_norm(const real* x, const real* gain, real epsilon, real* y, real* inverse_rms,
              Index row_count, Index n) {
  const Table& t = active();
  parallel_parts(row_count, row_grain(n), [=, &t](Index begin, Index end) {
    t.rms_norm(x + begin * n, gain, epsilon, y + begin * n, inverse_rms + begin, end - begin, n);
  });
}

void rms_norm_backward(const real* dy, const real* x, const real* gain, const real* inverse_rms,
                       real* dx, real* d_gain, Index row_count, Index n) {
  const Table& t = active();
  const Index blocks = (row_count + norm_block - 1) / norm_block;
  real* partial = workspace(blocks * n);
  std::fill(partial, partial + blocks * n, real(0));
  parallel_parts(blocks, row_grain(norm_block * n), [=, &t](Index begin, Index end) {
    const Index first = begin * norm_block, last = std::min(end * norm_block, row_count);
    t.rms_norm_backward(dy + first * n, x + first * n, gain, inverse_rms + first, dx + first * n,
                        partial + begin * n, last - first, n, norm_block);
  });
  for (Index i = 0; i < blocks; ++i) t.of<Add>()(d_gain, 1, partial + i * n, 1, d_gain, n);
}

void cross_entropy_backward(const real* logits, const real* log_sum, const std::int32_t* target,
                            real scale, real* d_logits, Index row_count, Index n) {
  const Table& t = active();
  parallel_parts(row_count, row_grain(n), [=, &t](Index begin, Index end) {
    t.cross_entropy_backward(logits + begin * n, log_sum + begin, target + begin, scale,
                             d_logits + begin * n, end - begin, n);
  });
}

}  // namespace tapestry::kernels
