// From the bytes of a mapped file into the memory of a tensor.
#pragma once

#include <cstddef>

#include "io/numbers.hpp"
#include "kernels/strided.hpp"
#include "tapestry/io/weight_files.hpp"

namespace tapestry {

// A part of a tensor in a file: `sizes` of the part, `strides` of the whole, in elements.
struct WeightBox {
  kernels::Sizes sizes;
  Index strides[kernels::max_ndim] = {};
  Index begin = 0;  // the first element
  int axis = 0;     // from this one on, the elements of a position lie without gaps
};

// The part that `into` receives. Throws Error unless it has that part's shape and the file's
// tensor, of shape `stored`, has that part.
WeightBox box_of(const Shape& stored, const WeightPart& part, const Tensor& into);

// Copies the box of the numbers at `bytes` of a mapped file, in pieces, and drops the file's pages
// after each.
void copy_weights(const std::byte* bytes, NumberType type, const WeightBox& box,
                  const Tensor& into);

}  // namespace tapestry
