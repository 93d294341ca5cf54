#include "tapestry/shape.hpp"

#include <algorithm>
#include <limits>

#include "tapestry/error.hpp"

namespace tapestry {

Shape::Shape(std::span<const Index> sizes) : rank_(static_cast<int>(sizes.size())) {
  if (sizes.size() > max_ndim) {
    throw Error("shape: " + std::to_string(sizes.size()) + " axes, but at most " +
                std::to_string(max_ndim) + " are supported. Merge some with reshape.");
  }
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  constexpr Index most = std::numeric_limits<Index>::max() / Index{sizeof(double)} / 2;
  Index count = 1;
  for (const Index size : sizes) {
    if (size < 0) throw Error("shape: " + to_string(*this) + " has a negative size.");
    if (size != 0 && count > most / size) {
      throw Error("shape: " + to_string(*this) + " has more elements than memory can hold.");
    }
    count *= std::max<Index>(size, 1);  // strides ignore a size of 0
  }
}

Index Shape::numel() const {
  Index count = 1;
  for (const Index size : *this) count *= size;
  return count;
}

Index Shape::operator[](int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  if (from_front < 0 || from_front >= rank_) {  // build the message only then
    (void)normalized_axis("shape " + to_string(*this), axis, rank_);
  }
  return sizes_[static_cast<std::size_t>(from_front)];
}

Shape Shape::with(int axis, Index size) const {
  Shape result = *this;
  result.sizes_[static_cast<std::size_t>(normalized_axis("shape", axis, rank_))] = size;
  return Shape(std::span(result.begin(), result.end()));
}

Shape Shape::inserted(int axis, Index size) const {
  const int at = normalized_axis("shape", axis, rank_ + 1);
  std::array<Index, max_ndim + 1> sizes{};
  std::copy(begin(), begin() + at, sizes.begin());
  sizes[static_cast<std::size_t>(at)] = size;
  std::copy(begin() + at, end(), sizes.begin() + at + 1);
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank_) + 1));
}

Shape Shape::removed(int axis) const {
  const int at = normalized_axis("shape", axis, rank_);
  std::array<Index, max_ndim> sizes{};
  std::copy(begin(), begin() + at, sizes.begin());
  std::copy(begin() + at + 1, end(), sizes.begin() + at);
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank_) - 1));
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (const Index size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

Strides row_major(const Shape& shape) {
  Strides strides{};
  Index step = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = step;
    step *= shape.begin()[axis];
  }
  return strides;
}

int normalized_axis(std::string_view operation, int axis, int rank) {
  const int from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank) {
    throw Error(std::string(operation) + ": axis " + std::to_string(axis) +
                " does not exist; with rank " + std::to_string(rank) +
                (rank == 0 ? " there is none."
                           : " axes go from " + std::to_string(-rank) + " to " +
                                 std::to_string(rank - 1) + "."));
  }
  return from_front;
}

Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b) {
  const int rank = std::max(a.ndim(), b.ndim());
  std::array<Index, Shape::max_ndim> sizes{};
  for (int back = 1; back <= rank; ++back) {
    const Index in_a = back <= a.ndim() ? a[-back] : 1;
    const Index in_b = back <= b.ndim() ? b[-back] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      throw Error(std::string(operation) + ": a is " + to_string(a) + ", b is " + to_string(b) +
                  ": on axis " + std::to_string(-back) + ", " + std::to_string(in_a) + " and " +
                  std::to_string(in_b) + " must be equal, or one of them 1.");
    }
    sizes[static_cast<std::size_t>(rank - back)] = in_a == 1 ? in_b : in_a;
  }
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank)));
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.ndim() > to.ndim()) return false;
  for (int back = 1; back <= from.ndim(); ++back) {
    if (from[-back] != 1 && from[-back] != to[-back]) return false;
  }
  return true;
}

}  // namespace tapestry
