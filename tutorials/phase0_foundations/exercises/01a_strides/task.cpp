// 01a. Where an element stands in memory
//
// A tensor is a row of numbers in memory and a rule: element (i, j, ...) is number
//
//   start + i * strides[0] + j * strides[1] + ...
//
// Write the rule, for any number of axes:
//   strides_of         the strides of a tensor that lies row by row without gaps. One step along
//                      the last axis is 1; one step along another axis passes everything that the
//                      axes after it hold. Shape (2, 3, 5) has the strides (15, 5, 1).
//   place_of           the number of the element at `position`, by the rule above
//   transposed_layout  the same numbers, seen with the last two axes exchanged; nothing is moved
//
// struct Layout { std::vector<Index> shape, strides; Index start; } is given. There are at least
// two axes. shape.size() is unsigned: count down with `for (auto i = shape.size(); i-- > 0;)`.
// Lesson: tutorials/phase0_foundations/README.md, "01 Tensors"
#include "phase0.hpp"

namespace learn {

std::vector<Index> strides_of(const std::vector<Index>& shape) {
  // Yours.
  not_written_yet();
}

Index place_of(const Layout& layout, const std::vector<Index>& position) {
  // Yours.
  not_written_yet();
}

Layout transposed_layout(const Layout& layout) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
