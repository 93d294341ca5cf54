#include "tapestry/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/strided.hpp"
#include "tapestry/error.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

void check_count(const char* operation, const Shape& shape, std::size_t values) {
  if (static_cast<Index>(values) != shape.numel()) {
    throw Error(std::string(operation) + ": " + std::to_string(values) +
                " values do not fill shape " + to_string(shape) + ", which has " +
                std::to_string(shape.numel()) + " elements.");
  }
}

Index position_in(const char* function, const Tensor& tensor,
                  std::initializer_list<Index> position) {
  const Shape& shape = tensor.shape();
  Index at = 0;
  bool inside = static_cast<int>(position.size()) == shape.ndim();
  for (std::size_t axis = 0; inside && axis < position.size(); ++axis) {
    const Index i = position.begin()[axis];
    inside = i >= 0 && i < shape.begin()[axis];
    if (inside) at += i * tensor.strides()[axis];  // of any other number it could overflow
  }
  if (!inside) {
    std::string text;
    for (const Index i : position) text += (text.empty() ? "" : ", ") + std::to_string(i);
    throw Error(std::string(function) + ": position (" + text + ") is not inside shape " +
                to_string(shape) + ".");
  }
  return at;
}

}  // namespace

Tensor::Tensor(double value) : Tensor(Shape(), {value}) {}

Tensor::Tensor(const Shape& shape, std::initializer_list<double> values) {
  check_count("tensor", shape, values.size());
  *this = empty(shape);
  std::transform(values.begin(), values.end(), raw(*this),
                 [](double value) { return static_cast<real>(value); });
}

Tensor::Tensor(const Shape& shape, std::span<const real> values) {
  check_count("tensor", shape, values.size());
  *this = empty(shape);
  std::copy(values.begin(), values.end(), raw(*this));
}

Tensor Tensor::empty(const Shape& shape) {
  Tensor tensor;
  tensor.buffer_ = Buffer(static_cast<std::size_t>(shape.numel()) * sizeof(real));
  tensor.shape_ = shape;
  tensor.strides_ = row_major(shape);
  return tensor;
}

Tensor Tensor::full(const Shape& shape, double value) {
  Tensor tensor = empty(shape);
  std::fill_n(raw(tensor), tensor.numel(), static_cast<real>(value));
  return tensor;
}

Tensor Tensor::arange(Index count) {
  Tensor tensor = empty({count});
  for (Index i = 0; i < count; ++i) raw(tensor)[i] = static_cast<real>(i);
  return tensor;
}

Tensor Tensor::eye(Index size) {
  Tensor tensor = zeros({size, size});
  for (Index i = 0; i < size; ++i) raw(tensor)[i * size + i] = 1;
  return tensor;
}

real* raw(const Tensor& x) {
  if (!x.defined()) throw Error("tensor: an undefined tensor was used; it holds no numbers.");
  return static_cast<real*>(x.buffer().data()) + x.offset();
}

real* Tensor::data() const {
  real* const numbers = raw(*this);
  if (!buffer_.given_away()) Saved::before_change(buffer_, true);
  return numbers;
}

bool Tensor::is_contiguous() const {
  Index step = 1;
  for (int axis = ndim() - 1; axis >= 0; --axis) {
    const Index size = shape_.begin()[axis];
    if (size == 0) return true;
    if (size != 1 && strides_[static_cast<std::size_t>(axis)] != step) return false;
    step *= size;
  }
  return true;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor copy = empty(shape_);
  kernels::copy(sizes(shape_), raw(*this), strides_.data(), raw(copy), copy.strides_.data());
  return copy;
}

Tensor Tensor::detach() const {
  Tensor result = *this;
  result.tape_ = detached_id;
  return result;
}

real Tensor::at(std::initializer_list<Index> position) const {
  return raw(*this)[position_in("at", *this, position)];
}

void Tensor::set(std::initializer_list<Index> position, double value) {
  const Index at = position_in("set", *this, position);
  raw_to_change(*this)[at] = static_cast<real>(value);
}

real Tensor::item() const {
  if (!defined() || numel() != 1) {
    throw Error("item: the tensor is " + (defined() ? to_string(shape_) : "undefined") +
                ", but must have exactly one element. Use at({...}) to read one of several.");
  }
  return *raw(*this);
}

std::vector<real> Tensor::values() const {
  const Tensor dense = contiguous();
  return std::vector<real>(raw(dense), raw(dense) + dense.numel());
}

Tensor Tensor::as_strided(const Shape& shape, const Strides& strides, Index offset) const {
  Tensor result;
  result.buffer_ = buffer_;
  result.offset_ = offset;
  result.shape_ = shape;
  result.strides_ = strides;
  if (tape_ == detached_id) result.tape_ = detached_id;
  return result;
}

Indices::Indices(const Shape& sizes, std::vector<std::int32_t> numbers)
    : shape(sizes), values(std::move(numbers)) {
  check("indices");
}

void Indices::check(const char* operation) const { check_count(operation, shape, values.size()); }

double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) {
    throw Error("largest_difference: a is " + to_string(a.shape()) + ", b is " +
                to_string(b.shape()) + ": the shapes must be equal.");
  }
  const std::vector<real> left = a.values();
  const std::vector<real> right = b.values();
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i]) continue;  // also equal infinities
    const double difference = std::abs(double{left[i]} - double{right[i]});
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace tapestry
