// embedding and gather: gather forward, scatter-add backward.
#include <algorithm>

#include "kernels/strided.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

void check_range(const char* operation, const Indices& indices, Index size, const char* what) {
  indices.check(operation);
  const auto begin = indices.values.begin(), end = indices.values.end();
  const auto bad = std::find_if(begin, end, [&](Index id) { return id < 0 || id >= size; });
  if (bad == end) return;
  throw Error(std::string(operation) + ": index " + std::to_string(*bad) + " at place " +
              std::to_string(bad - begin) + " is not one of the " + std::to_string(size) + " " +
              what + " (0 to " + std::to_string(size - 1) + ").");
}

}  // namespace

Tensor embedding(const Tensor& table, const Indices& ids) {
  if (table.ndim() != 2) {
    throw Error("embedding: the table is " + to_string(table.shape()) +
                ": it must be (words, width).");
  }
  check_range("embedding", ids, table.size(0), "rows of the table");
  const Tensor dense = table.contiguous();  // (words, width)
  const Index width = table.size(1), count = ids.shape.numel();
  const Tensor y = Tensor::empty(ids.shape.inserted(ids.shape.ndim(), width));  // (..., width)
  kernels::gather_rows(raw(dense), ids.values.data(), count, width, raw(y));
  return Tape::record(
      "embedding", {table}, y,
      [shape = table.shape(), ids, count, width](const Tensor& dy, GradientSink& to) {
        // (words, width), (..., width)
        const Tensor d_table = Tensor::empty(shape), dense_dy = dy.contiguous();
        kernels::scatter_sum_rows(raw(dense_dy), ids.values.data(), count, width, raw(d_table),
                                  shape[0]);
        to.accumulate(0, d_table);
      });
}

Tensor gather(const Tensor& x, int axis, const Indices& index) {
  const int at = normalized_axis("gather", axis, x.ndim());
  if (index.shape.ndim() != x.ndim() || index.shape.with(at, 0) != x.shape().with(at, 0)) {
    throw Error("gather: x is " + to_string(x.shape()) + ", index is " + to_string(index.shape) +
                ": they must have equal sizes except along axis " + std::to_string(axis) + ".");
  }
  check_range("gather", index, x.size(at), "positions of the axis");
  const Tensor dense = x.contiguous();  // x's shape, seen as (outer, length, inner)
  const Around a = around(x.shape(), at);
  const Tensor y = Tensor::empty(index.shape);  // seen as (outer, picks, inner)
  const Index picks = index.shape[at];
  kernels::gather(raw(dense), a.outer, a.length, a.inner, index.values.data(), picks, raw(y));
  return Tape::record("gather", {x}, y,
                      [shape = x.shape(), a, index, picks](const Tensor& dy, GradientSink& to) {
                        // x's shape, y's shape
                        const Tensor dx = Tensor::zeros(shape), dense_dy = dy.contiguous();
                        kernels::scatter_add(raw(dense_dy), a.outer, a.length, a.inner,
                                             index.values.data(), picks, raw(dx));
                        to.accumulate(0, dx);
                      });
}

}  // namespace tapestry
