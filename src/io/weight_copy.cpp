#include "io/weight_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "io/mapped_file.hpp"
#include "kernels/parallel.hpp"
#include "kernels/parallel_all.hpp"
#include "tapestry/error.hpp"
#include "tensor/raw.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

constexpr Index piece = 1 << 20;  // numbers that are copied before the file's pages are dropped

// The numbers of each position along the axes before `axis`.
Index count_from(const kernels::Sizes& sizes, int axis) {
  Index count = 1;
  for (int d = axis; d < sizes.rank; ++d) count *= sizes.size[d];
  return count;
}

class Copier {
 public:
  Copier(const std::byte* bytes, NumberType type, const WeightBox& box, const Tensor& into)
      : bytes_(bytes),
        type_(type),
        width_(static_cast<Index>(bytes_of(type))),
        axis_(box.axis),
        from_(box.strides),
        to_(into.strides().data()) {}

  // Copies the box from element `first` on: cut along this axis if that is too large, and along the
  // next ones if a single position is.
  void copy(const kernels::Sizes& sizes, int axis, Index first, real* to) {
    const Index all = count_from(sizes, axis);
    if (all <= piece) return copy_piece(sizes, first, to);
    const Index step = std::max<Index>(1, piece / (all / sizes.size[axis]));
    kernels::Sizes part = sizes;
    for (Index i = 0; i < sizes.size[axis]; i += step) {
      part.size[axis] = std::min(step, sizes.size[axis] - i);
      copy(part, axis + 1, first + i * from_[axis], to + i * to_[axis]);
    }
  }

 private:
  void copy_piece(const kernels::Sizes& sizes, Index first, real* to) {
    const std::byte* const begin = bytes_ + first * width_;
    const Strides dense = dense_strides(sizes);
    if (can_read_in_place(begin)) {
      kernels::copy(sizes, reinterpret_cast<const real*>(begin), from_, to, to_);
    } else if (std::equal(to_, to_ + sizes.rank, dense.begin())) {
      convert(sizes, begin, to);
    } else {
      converted_.resize(static_cast<std::size_t>(sizes.numel()));
      convert(sizes, begin, converted_.data());
      kernels::copy(sizes, converted_.data(), dense.data(), to, to_);
    }
    const Index last = kernels::offset_of(sizes, from_, sizes.numel() - 1);
    MappedFile::drop({begin, static_cast<std::size_t>((last + 1) * width_)});
  }

  bool can_read_in_place(const std::byte* begin) const {
    return type_ == (sizeof(real) == 4 ? NumberType::f32 : NumberType::f64) &&
           reinterpret_cast<std::uintptr_t>(begin) % alignof(real) == 0;
  }

  static Strides dense_strides(const kernels::Sizes& sizes) {
    return row_major(Shape(std::span(sizes.size, static_cast<std::size_t>(sizes.rank))));
  }

  // The numbers of a piece one behind the other. Those from axis_ on lie so in the file, too.
  void convert(const kernels::Sizes& sizes, const std::byte* begin, real* to) {
    const int outer = std::min(axis_, sizes.rank);
    kernels::Sizes before = sizes;
    before.rank = outer;
    const Index run = count_from(sizes, outer);
    const auto convert_some = [&](Index i, Index end) {
      while (i < end) {
        const Index at = kernels::offset_of(before, from_, i / run) + i % run;
        const Index n = std::min(end - i, run - i % run);
        convert_numbers(begin + at * width_, type_, std::endian::little,
                        std::span(to + i, std::size_t(n)));
        i += n;
      }
    };
    if (is_whole(type_) || type_ == NumberType::boolean) {  // which may throw: on this thread
      convert_some(0, sizes.numel());
    } else {
      kernels::parallel_parts(sizes.numel(), kernels::parallel_grain, convert_some);
    }
  }

  const std::byte* bytes_;
  NumberType type_;
  Index width_;  // bytes of a number in the file
  int axis_;
  const Index *from_, *to_;  // strides
  std::vector<real> converted_;
};

}  // namespace

WeightBox box_of(const Shape& stored, const WeightPart& part, const Tensor& into) {
  const Shape seen = part.shape.ndim() == 0 ? stored : part.shape;
  const std::string is = "it is " + to_string(stored) +
                         (seen == stored ? "" : ", here seen as " + to_string(seen)) + ", but ";
  if (seen.numel() != stored.numel()) throw Error(is + "that is another count of numbers.");
  WeightBox box;
  Shape wanted = seen;
  const Strides strides = row_major(seen);
  if (seen.ndim() > 0 && into.ndim() == seen.ndim()) {
    box.axis = normalized_axis("the part", part.axis, seen.ndim());
    const Index count = into.size(box.axis);
    if (part.begin < 0 || count > seen[box.axis] || part.begin > seen[box.axis] - count) {
      throw Error(is + "positions " + std::to_string(part.begin) + " to " +
                  std::to_string(part.begin + count - 1) + " of axis " + std::to_string(box.axis) +
                  " were asked for.");
    }
    wanted = seen.with(box.axis, count);
    box.begin = part.begin * strides[static_cast<std::size_t>(box.axis)];
  }
  if (into.shape() != wanted) throw Error(is + to_string(into.shape()) + " was asked for.");
  box.sizes = sizes(wanted);
  std::copy(strides.begin(), strides.end(), box.strides);
  return box;
}

void copy_weights(const std::byte* bytes, NumberType type, const WeightBox& box,
                  const Tensor& into) {
  if (into.numel() == 0) return;
  Copier(bytes, type, box, into).copy(box.sizes, 0, box.begin, raw_to_change(into));
}

}  // namespace tapestry
