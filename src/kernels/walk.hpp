// Iteration over several strided arrays of one shape: merged dimensions and a current position.
#pragma once

#include "kernels/strided.hpp"

namespace tapestry::kernels {

// The common shape of `operands` arrays, each with its own strides (0 repeats). Construction drops
// dimensions of size 1 and merges neighbours that are contiguous for every operand; rank is at
// least 1 afterwards.
struct Walk {
  static constexpr int max_operands = 4;

  int operands;
  int rank = 0;
  Index size[max_ndim] = {};
  Index stride[max_operands][max_ndim] = {};

  Walk(const Sizes& sizes, int operand_count, const Index* const* strides);

  // The count of all dimensions but the last.
  Index outer() const;

  // Of a copy from operand 0 to operand 1: the dimension along which the first is contiguous when
  // the last one is that for the second only; -1 if there is none.
  int transposed() const;
};

// The offsets of all operands at one position of the dimensions before the last.
struct Position {
  const Walk& walk;
  Index at[max_ndim] = {};
  Index offset[Walk::max_operands] = {};

  Position(const Walk& w, Index outer_index);
  void next();
};

}  // namespace tapestry::kernels
