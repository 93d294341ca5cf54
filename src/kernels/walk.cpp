#include "kernels/walk.hpp"

namespace tapestry::kernels {
namespace {

// Whether one step of `outer` equals all steps of `inner`, for every operand.
bool can_merge(const Walk& w, const Index* const* strides, int outer, int inner, Index inner_size) {
  for (int o = 0; o < w.operands; ++o) {
    if (w.stride[o][outer] != strides[o][inner] * inner_size) return false;
  }
  return true;
}

}  // namespace

Walk::Walk(const Sizes& sizes, int operand_count, const Index* const* strides)
    : operands(operand_count) {
  for (int d = 0; d < sizes.rank; ++d) {
    const Index n = sizes.size[d];
    if (n == 1) continue;
    const bool merge = rank > 0 && can_merge(*this, strides, rank - 1, d, n);
    if (!merge) ++rank;
    size[rank - 1] = merge ? size[rank - 1] * n : n;
    for (int o = 0; o < operands; ++o) stride[o][rank - 1] = strides[o][d];
  }
  if (rank == 0) size[rank++] = 1;
}

Index Walk::outer() const {
  Index count = 1;
  for (int d = 0; d < rank - 1; ++d) count *= size[d];
  return count;
}

int Walk::transposed() const {
  const int last = rank - 1;
  if (stride[1][last] != 1 || stride[0][last] == 1 || stride[0][last] == 0) return -1;
  for (int d = 0; d < last; ++d) {
    if (stride[0][d] == 1) return d;
  }
  return -1;
}

Position::Position(const Walk& w, Index outer_index) : walk(w) {
  for (int d = w.rank - 2; d >= 0; --d) {
    at[d] = outer_index % w.size[d];
    outer_index /= w.size[d];
    for (int o = 0; o < w.operands; ++o) offset[o] += at[d] * w.stride[o][d];
  }
}

void Position::next() {
  for (int d = walk.rank - 2; d >= 0; --d) {
    for (int o = 0; o < walk.operands; ++o) offset[o] += walk.stride[o][d];
    if (++at[d] < walk.size[d]) return;
    for (int o = 0; o < walk.operands; ++o) offset[o] -= walk.size[d] * walk.stride[o][d];
    at[d] = 0;
  }
}

}  // namespace tapestry::kernels
