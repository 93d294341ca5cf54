// Numbers with a shape. A Tensor is a handle: copies share the numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "tapestry/memory.hpp"
#include "tapestry/real.hpp"
#include "tapestry/shape.hpp"

namespace tapestry {

class Saved;
class Tape;

inline namespace TAPESTRY_REAL {

// A view of shared numbers: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] +
// ... in the buffer. Transposing, slicing and splitting change shape and strides; they copy
// nothing.
class Tensor {
 public:
  Tensor() = default;  // no tensor at all: `defined()` is false (an absent bias, say)

  // A number is a tensor of rank 0, so that `2 * x` needs no rule of its own.
  Tensor(double value);

  // Row-major values. Throws Error unless there are exactly shape.numel() of them.
  Tensor(const Shape& shape, std::initializer_list<double> values);
  Tensor(const Shape& shape, std::span<const real> values);

  // What Tape::save returns has to stay what it is until a record has it: capture it by `auto`.
  Tensor(const Saved&) = delete;

  [[nodiscard]] static Tensor empty(const Shape& shape);
  [[nodiscard]] static Tensor full(const Shape& shape, double value);
  [[nodiscard]] static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  [[nodiscard]] static Tensor ones(const Shape& shape) { return full(shape, 1); }
  [[nodiscard]] static Tensor arange(Index count);  // 0, 1, ..., count - 1; shape (count)
  [[nodiscard]] static Tensor eye(Index size);      // the identity matrix, (size, size)

  bool defined() const { return static_cast<bool>(buffer_); }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int ndim() const { return shape_.ndim(); }
  Index size(int axis) const { return shape_[axis]; }
  Index numel() const { return shape_.numel(); }

  // Address of element (0, 0, ...). Writing through it changes every tensor that shares the
  // numbers; optimisers and files do so, operations never. What a tape keeps for its backward pass
  // must not be changed before: backward() then throws Error (saved.hpp tells how it knows).
  // Throws Error if the tensor is undefined.
  real* data() const;
  const Buffer& buffer() const { return buffer_; }
  Index offset() const { return offset_; }

  // True when the elements lie row-major without gaps, so that data()[0 .. count) are all of them.
  [[nodiscard]] bool is_contiguous() const;

  // This tensor if it is contiguous, else a contiguous copy. Not recorded by a tape.
  [[nodiscard]] Tensor contiguous() const;
  [[nodiscard]] Tensor clone() const;  // always a copy, likewise not recorded: no gradient passes

  // Shares storage; excluded from recording: no gradient flows through it.
  [[nodiscard]] Tensor detach() const;

  // One element. Throws Error for a wrong number of positions or one out of range.
  [[nodiscard]] real at(std::initializer_list<Index> position) const;
  void set(std::initializer_list<Index> position, double value);  // writes, like data()
  [[nodiscard]] real item() const;  // the only element; throws Error unless numel() is 1
  [[nodiscard]] std::vector<real> values() const;  // a row-major copy

  // The same buffer seen with other shape and strides; `offset` in elements from the buffer's
  // start. Not recorded, not checked: the operations in ops.hpp are the way to make views.
  [[nodiscard]] Tensor as_strided(const Shape& shape, const Strides& strides, Index offset) const;

 private:
  friend class tapestry::Tape;

  Buffer buffer_;
  Index offset_ = 0;
  Shape shape_;
  Strides strides_{};
  // Which record of which tape made this tensor; tape 0 means none yet, `detached_id` means never.
  static constexpr std::uint64_t detached_id = ~std::uint64_t{0};
  std::uint64_t tape_ = 0;
  std::uint32_t node_ = 0;
};

// A named tensor that a model learns.
struct Parameter {
  std::string name;
  Tensor value;
};
using Parameters = std::vector<Parameter>;

}  // namespace TAPESTRY_REAL

// Whole numbers with a shape: token ids, class targets, positions to gather.
struct Indices {
  Shape shape;
  std::vector<std::int32_t> values;  // row-major

  Indices() = default;
  // Throws Error unless there are exactly shape.numel() values.
  Indices(const Shape& shape, std::vector<std::int32_t> values);

  // The same for numbers that were changed since; `operation` begins the message. All functions
  // that read indices by their shape call this first.
  void check(const char* operation) const;
};

// The numbers as aligned rows, in brackets, with `digits` after the point. More than `most`
// elements are elided: the first and last three of each axis are shown. Begins with the shape.
[[nodiscard]] std::string to_string(const Tensor& tensor, int digits = 4, Index most = 200);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);  // to_string(tensor)
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// One line: shape, min, max, mean, and in capitals how many NaN and infinities there are.
//   (2, 3) min -1.2 max 0.7 mean 0.05      (4) min 0 max 1 mean 0.5  3 NaN!  1 INF!
[[nodiscard]] std::string summary(const Tensor& tensor);

// Largest |a - b|, NaN if either has one. Shapes must be equal, else Error.
[[nodiscard]] double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace tapestry
