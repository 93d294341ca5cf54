// The driver of matrix products: one kernel call per matrix of the batch, or per part of one.
#include <algorithm>

#include "kernels/parallel.hpp"
#include "kernels/parallel_all.hpp"

namespace tapestry::kernels {
namespace {

constexpr Index operation_grain = 1 << 21;  // multiply-adds that justify one more thread
constexpr Index vector_grain = 1 << 17;     // the same where each reads a number of its own
constexpr Index least_rows = 32;            // of a piece: thinner ones would pack b too often
constexpr Index least_columns = 256;        // likewise a, where it is packed
constexpr Index column_unit = 64;           // a multiple of every tile's width
constexpr Index many_rows = 256;            // of a piece: packing all of b for them costs little
constexpr Index small_b = 1 << 17;          // numbers that a core keeps near

// (batch..., m, k) times one (k, n) for all is a single product when the rows of the whole batch
// have one stride. Then this makes them the rows of one matrix.
void merge_batch(MatmulShape& s, MatrixView& a, const MatrixView& b) {
  Index rows = s.m, row = a.row;
  for (int d = s.batch.rank - 1; d >= 0; --d) {
    if (s.batch.size[d] == 1) continue;
    if (rows == 1) row = a.batch_strides[d];  // the stride of a single row is arbitrary
    if (b.batch_strides[d] != 0 || a.batch_strides[d] != rows * row) return;
    rows *= s.batch.size[d];
  }
  s.m = rows;
  s.batch.rank = 0;
  a.row = row;
}

}  // namespace

Index offset_of(const Sizes& batch, const Index* strides, Index position) {
  Index offset = 0;
  for (int d = batch.rank - 1; d >= 0; --d) {
    offset += position % batch.size[d] * strides[d];
    position /= batch.size[d];
  }
  return offset;
}

namespace {

// One product, divided into pieces of whole rows and columns.
struct Cut {
  Index rows, columns;  // number of pieces in each direction
  Index m, n;           // of the whole product

  // Enough pieces of each matrix for all threads. By columns first, so that each packs only its own
  // part of b, and a, if it is not transposed, is packed by none. But by rows if these are many,
  // and b is small: then a thread writes the rows that it will read, since other operations are
  // divided by rows. Likewise if the columns cannot be divided evenly, even if b is large.
  Cut(const MatmulShape& s, const MatrixView& a) : m(s.m), n(s.n) {
    const Index count = s.batch.numel();
    const Index wanted = (threads_at_hand() + count - 1) / count;
    const bool packs_a = a.column != 1;
    const bool by_rows =
        s.m >= wanted * many_rows && (s.k * s.n <= small_b || s.n % (wanted * column_unit) != 0);
    columns = packs_a || by_rows ? 1 : std::clamp<Index>(s.n / least_columns, 1, wanted);
    rows = std::clamp<Index>(s.m / least_rows, 1, (wanted + columns - 1) / columns);
  }
  Index row(Index piece) const { return m * piece / rows; }
  Index column(Index piece) const {
    return piece == columns ? n : n / column_unit * piece / columns * column_unit;
  }
};

void multiply(const MatmulShape& shape, const MatrixView& a_view, const MatrixView& b, real* c,
              const Epilogue* then) {
  if (shape.batch.numel() * shape.m * shape.n == 0) return;
  MatmulShape s = shape;
  MatrixView a = a_view;
  merge_batch(s, a, b);
  const Table& t = active();
  const Cut cut(s, a);
  const Index pieces = cut.rows * cut.columns;  // of each matrix
  const auto compute = [=, &t](Index matrix, Index i, Index to, Index j, Index end) {
    const real* left = a.data + offset_of(s.batch, a.batch_strides, matrix) + i * a.row;
    const real* right = b.data + offset_of(s.batch, b.batch_strides, matrix) + j * b.column;
    const Index at = (matrix * s.m + i) * s.n + j;
    if (then == nullptr) {
      t.matmul(to - i, end - j, s.k, left, a.row, a.column, right, b.row, b.column, c + at, s.n);
    } else {
      t.linear(to - i, end - j, s.k, left, a.row, a.column, right, b.row, b.column,
               {then->bias ? then->bias + j : nullptr, then->activation, then->y + at}, c + at,
               s.n);
    }
  };
  // The divisions below would take a hundredth of the time of a product of 64 x 64 x 64.
  if (s.batch.numel() * pieces == 1) return compute(0, 0, s.m, 0, s.n);
  const Index work = std::max<Index>(1, s.m * s.n / pieces * s.k);
  const Index grain = s.m == 1 || s.n == 1 ? vector_grain : operation_grain;
  parallel_parts(s.batch.numel() * pieces, (grain + work - 1) / work, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index row = i % pieces / cut.columns, column = i % pieces % cut.columns;
      compute(i / pieces, cut.row(row), cut.row(row + 1), cut.column(column),
              cut.column(column + 1));
    }
  });
}

}  // namespace

void matmul(const MatmulShape& shape, const MatrixView& a, const MatrixView& b, real* c) {
  multiply(shape, a, b, c, nullptr);
}

void linear(const MatmulShape& shape, const MatrixView& a, const MatrixView& b,
            const Epilogue& then, real* c) {
  multiply(shape, a, b, c, &then);
}

}  // namespace tapestry::kernels
