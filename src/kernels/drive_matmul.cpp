// The driver of matrix products: one kernel call per matrix of the batch, or per band of its rows.
#include <algorithm>

#include "kernels/drive.hpp"
#include "kernels/parallel.hpp"

namespace tapestry::kernels {
namespace {

constexpr Index operation_grain = 1 << 20;  // multiply-adds that are worth a thread of their own
constexpr Index least_band = 32;            // rows: thinner bands would pack b too often

// (batch..., m, k) times one (k, n) for all is a single product when the rows of the whole batch
// lie at one distance. Then this makes them the rows of one matrix.
void merge_batch(MatmulShape& s, MatrixView& a, const MatrixView& b) {
  Index rows = s.m, row = a.row;
  for (int d = s.batch.rank - 1; d >= 0; --d) {
    if (s.batch.size[d] == 1) continue;
    if (rows == 1) row = a.batch_strides[d];  // the stride of a single row says nothing
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

void matmul(const MatmulShape& shape, const MatrixView& a_view, const MatrixView& b, real* c) {
  if (shape.batch.count() * shape.m * shape.n == 0) return;
  MatmulShape s = shape;
  MatrixView a = a_view;
  merge_batch(s, a, b);
  const Table& t = active();
  const Index count = s.batch.count();
  const Index most = (omp_get_max_threads() + count - 1) / count;  // bands that threads could use
  const Index bands = std::clamp<Index>(s.m / least_band, 1, most);
  const Index work = std::max<Index>(1, s.m / bands * s.n * s.k);  // of one band
  parallel_parts(count * bands, std::max<Index>(1, operation_grain / work),
                 [&](Index begin, Index end) {
                   for (Index i = begin; i < end; ++i) {
                     const Index matrix = i / bands, band = i % bands;
                     const Index top = s.m * band / bands, bottom = s.m * (band + 1) / bands;
                     t.matmul(bottom - top, s.n, s.k,
                              a.data + offset_of(s.batch, a.batch_strides, matrix) + top * a.row,
                              a.row, a.column, b.data + offset_of(s.batch, b.batch_strides, matrix),
                              b.row, b.column, c + (matrix * s.m + top) * s.n, s.n);
                   }
                 });
}

}  // namespace tapestry::kernels
