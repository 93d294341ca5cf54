// 01b. Broadcasting: the sum of two shapes
//
// Two tensors of different shapes can be added if their shapes fit. Write both shapes so that their
// last axes stand below each other; an axis that is missing in front counts as size 1. The two
// sizes of an axis have to be equal, or one of them is 1; the result has the larger one. An axis of
// size 1 is repeated: whatever the position in the result, the number at 0 is read there.
//
//   a       (4, 1, 3)
//   b          (2, 1)
//   a + b   (4, 2, 3), element (i, j, k) is a(i, 0, k) + b(j, 0)
//
// If the sizes of some axis do not fit, the function says so: throw Error("..."). Tensors have up
// to three axes here. Work with a.ndim(), a.size(axis) and a.data(), the numbers row by row:
// padding both shapes in front to three axes makes three plain loops of it. With the sizes of the
// result in a std::vector<Index>, Tensor::zeros(Shape(std::span<const Index>(sizes))) makes the
// tensor; .set({i, j, k}, x) or .data() writes numbers. Do not use the library's a + b.
// Lesson: tutorials/phase0_foundations/README.md, "01 Tensors"
#include "phase0.hpp"

namespace learn {

Tensor broadcast_add(const Tensor& a, const Tensor& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
