// The interface for operations: kernels over whole arrays, split among threads.
//
// Functions that take an entry are called with one of the table in use, such as
// unary(active().of<Exp>(), x, y, n); the others look theirs up. Arrays are row-major, contiguous
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
// gain, bias (n); mean (rows, 2), a sum of two numbers, and inverse_deviation (rows) are written
void layer_norm(const real* x, const real* gain, const real* bias, real epsilon, real* y,
                real* mean, real* inverse_deviation, Index row_count, Index n);
// d_gain and d_bias (n) are added to
void layer_norm_backward(const real* dy, const real* x, const real* gain, const real* mean,
                         const real* inverse_deviation, real* dx, real* d_gain, real* d_bias,
                         Index row_count, Index n);
// inverse_rms (rows) is written; d_gain (n) is added to
void rms_norm(const real* x, const real* gain, real epsilon, real* y, real* inverse_rms,
              Index row_count, Index n);
void rms_norm_backward(const real* dy, const real* x, const real* gain, const real* inverse_rms,
                       real* dx, real* d_gain, Index row_count, Index n);
// target (rows), negative = ignored; log_sum (rows) is the logsumexp of each row
void cross_entropy_backward(const real* logits, const real* log_sum, const std::int32_t* target,
                            real scale, real* d_logits, Index row_count, Index n);

// y[i] = x[i] * (16 random bits < limit ? 0 : scale)
void dropout(const real* x, real* y, Index n, const RandomBlocks& random, std::uint32_t limit,
             real scale);

// The sum of all squares; the order of additions depends on n alone
double sum_squares(const real* x, Index n);

// Updates of n weights in place.
void sgd(real* weight, const real* gradient, real* velocity, const SgdStep& step, Index n);
void adam(real* weight, const real* gradient, real* mean, real* square, const AdamStep& step,
          Index n);

// One matrix product per position of the batch: (m, k) times (k, n).
struct MatmulShape {
  Sizes batch;
  Index m, n, k;
};

// A stack of matrices: one stride per batch dimension (0 = the same matrix for all), and the
// strides of a row and of a column.
struct MatrixView {
  const real* data = nullptr;
  const Index* batch_strides = nullptr;  // as many as the shape's batch has dimensions
  Index row, column;
};

// The same to write to; rows are contiguous.
struct MatrixRoom {
  real* data = nullptr;
  const Index* batch_strides = nullptr;
  Index row;
};

// c (batch..., m, n), contiguous and overwritten, from a (batch..., m, k) and b (batch..., k, n)
void matmul(const MatmulShape& shape, const MatrixView& a, const MatrixView& b, real* c);

// The same, then bias and activation: c = a b + bias (n), y = activation(c), also contiguous. y may
// be c.
void linear(const MatmulShape& shape, const MatrixView& a, const MatrixView& b,
            const Epilogue& then, real* c);

// Where the matrix at this position of the batch starts, in elements.
Index offset_of(const Sizes& batch, const Index* strides, Index position);

// Attention of every head of a batch: (queries, width) against (keys, width) and (keys,
// value_width). `look` and `mask` are those of AttentionHead; the batch element for them is the
// position along the first axis of the batch.
struct AttentionShape {
  Sizes batch;
  Index queries, keys, width, value_width;
  real scale;
  BlockVisibility (*visible_in_block)(const AttentionHead& head, Index query, Index queries,
                                      Index key, Index keys, std::uint64_t* keep) = nullptr;
  const void* mask = nullptr;
  real softcap = 0;  // as in AttentionHead
};

// The entry `attention` of the table for each head. Views have rows of contiguous numbers (column =
// 1). out (batch..., queries, value_width) is written; log_sum (batch..., queries) is contiguous.
void attention(const AttentionShape& shape, const MatrixView& q, const MatrixView& k,
               const MatrixView& v, const MatrixRoom& out, real* log_sum);

// Into how many ranges `attention_backward` cuts the keys: more than one where there are few heads
// and many keys. It depends on the shape alone.
Index attention_parts(const AttentionShape& shape);

// Where to write the gradients, (batch..., queries, width), (batch..., keys, width) and (batch...,
// keys, value_width): null as in AttentionGradients. Of several ranges of keys each has its share
// of q's, to be added up; these lie one after another, (parts, batch..., queries, width), without
// gaps.
struct AttentionRooms {
  MatrixRoom q, k, v;
};

// Backward, like the table's entry.
void attention_backward(const AttentionShape& shape, const MatrixView& q, const MatrixView& k,
                        const MatrixView& v, const MatrixView& out, const MatrixView& d_out,
                        const real* log_sum, const AttentionRooms& to);

}  // namespace tapestry::kernels
