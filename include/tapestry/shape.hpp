// The sizes of a tensor along its axes, and the rules of broadcasting.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tapestry/real.hpp"

namespace tapestry {

// Up to six sizes, outermost first. Rank 0, written (), is a single number.
class Shape {
 public:
  static constexpr int max_ndim = 6;

  Shape() = default;
  // Throws Error for more than six sizes, a negative one, or more elements than memory can hold.
  Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Index> sizes);

  int ndim() const { return rank_; }
  [[nodiscard]] Index numel() const;  // number of elements: the product of the sizes, 1 for rank 0

  // Axis 0 is the outermost; -1 is the last. Throws Error if there is no such axis.
  [[nodiscard]] Index operator[](int axis) const;

  const Index* begin() const { return sizes_.data(); }
  const Index* end() const { return sizes_.data() + rank_; }

  // The same sizes but one; with one axis more, or one less.
  [[nodiscard]] Shape with(int axis, Index size) const;
  [[nodiscard]] Shape inserted(int axis, Index size) const;
  [[nodiscard]] Shape removed(int axis) const;

  bool operator==(const Shape&) const = default;

 private:
  std::array<Index, max_ndim> sizes_{};
  int rank_ = 0;
};

using Strides = std::array<Index, Shape::max_ndim>;  // elements to step along each axis

[[nodiscard]] std::string to_string(const Shape& shape);  // "(2, 3)"

// Strides of a row-major layout without gaps.
[[nodiscard]] Strides row_major(const Shape& shape);

// The axis counted from the front; `axis` may be negative (-1 is the last). Messages begin with
// `operation`. Throws Error if there is no such axis.
[[nodiscard]] int normalized_axis(std::string_view operation, int axis, int rank);

// The shape that a and b broadcast to, by NumPy's rule: aligned at the last axis, sizes must be
// equal or one of them 1. Throws Error naming `operation`, both shapes and the axis that clashes.
[[nodiscard]] Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b);

// Whether `from` broadcasts to exactly `to`.
[[nodiscard]] bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace tapestry
