// What operations call: kernels over whole arrays, split among threads.
//
// Functions that take an entry are called with one of the table in use, such as
// unary(active().exp, x, y, n); the others look theirs up. Arrays are row-major and contiguous
// unless strides are passed, and nothing is checked. The bits of every result are the same for any
// number of threads: where parts are added up, their size depends on the shape alone.
#pragma once

#include "kernels/strided.hpp"
#include "kernels/table.hpp"

namespace tapestry::kernels {

// y[i] = f(x[i]); dx[i] = dy[i] * f'(saved[i]); n numbers each
void unary(Unary kernel, const real* x, real* y, Index n);
void unary_backward(UnaryBackward kernel, const real* dy, const real* saved, real* dx, Index n);

// y = f(a, b) over `sizes`, y contiguous. Strides in elements, one per dimension; 0 repeats, which
// is NumPy's broadcasting. y may be exactly a or b where that one is contiguous.
void binary(Binary kernel, const Sizes& sizes, const real* a, const Index* a_strides, const real* b,
            const Index* b_strides, real* y);

// y = condition != 0 ? a : b over `sizes`, with strides as in `binary`
void select(const Sizes& sizes, const real* condition, const Index* condition_strides,
            const real* a, const Index* a_strides, const real* b, const Index* b_strides, real* y);

// y (outer, inner) from x (outer, length, inner)
void reduce(Reduce kernel, const real* x, Index outer, Index length, Index inner, real* y);

// Row by row, rows of length n; table.hpp says what each does. x, y, dy, dx are (rows, n).
void rows(Rows kernel, const real* x, real* y, Index row_count, Index n);
void rows_backward(RowsBackward kernel, const real* dy, const real* y, real* dx, Index row_count,
                   Index n);
void logsumexp(const real* x, real* y, Index row_count, Index n);  // y (rows)
// gain, bias (n); mean, inverse_deviation (rows) are written
void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index row_count, Index n);
// d_gain and d_bias (n) are added to
void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                         const real* inverse_deviation, real* dx, real* d_gain, real* d_bias,
                         Index row_count, Index n);
// target (rows), negative = ignored; log_sum (rows) is the logsumexp of each row
void cross_entropy_backward(const real* logits, const real* log_sum, const std::int32_t* target,
                            real scale, real* d_logits, Index row_count, Index n);

// Updates of n weights in place.
void sgd(real* weight, const real* gradient, real* velocity, real rate, real momentum, Index n);
void adam(real* weight, const real* gradient, real* mean, real* square, const AdamStep& step,
          Index n);

// One matrix product per position of the batch: (m, k) times (k, n).
struct MatmulShape {
  Sizes batch;
  Index m = 0, n = 0, k = 0;
};

// A stack of matrices: one stride per batch dimension (0 = the same matrix for all), and the
// strides of a row and of a column.
struct MatrixView {
  const real* data = nullptr;
  const Index* batch_strides = nullptr;  // as many as the shape's batch has dimensions
  Index row = 0, column = 0;
};

// c (batch..., m, n), contiguous and overwritten, from a (batch..., m, k) and b (batch..., k, n)
void matmul(const MatmulShape& shape, const MatrixView& a, const MatrixView& b, real* c);

}  // namespace tapestry::kernels
