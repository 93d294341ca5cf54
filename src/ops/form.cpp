// reshape transpose permute slice concat stack split expand squeeze: other views of the same
// numbers. Only concat, stack and a reshape that strides cannot express copy anything.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "kernels/strided.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

constexpr Index most_parts = 1 << 20;  // that split makes

// x without its axes of size 1, whose strides mean nothing.
Tensor without_ones(const Tensor& x) {
  std::array<Index, Shape::max_ndim> sizes{};
  Strides strides{};
  std::size_t rank = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.size(axis) == 1) continue;
    strides[rank] = x.strides()[static_cast<std::size_t>(axis)];
    sizes[rank++] = x.size(axis);
  }
  return x.as_strided(Shape(std::span(sizes.data(), rank)), strides, x.offset());
}

// Strides with which x is `shape` without a copy, if there are any: axes of x that are contiguous
// to each other are merged, then split.
std::optional<Strides> strides_for(const Tensor& any, const Shape& shape) {
  Strides strides = row_major(shape);
  if (any.is_contiguous() || shape.numel() == 0) return strides;
  const Tensor x = without_ones(any);
  int from = 0, to = 0;
  while (from < x.ndim()) {
    int from_end = from + 1, to_end = to + 1;
    Index in = x.size(from), out = shape[to];
    while (in != out) {  // grow both groups until their element counts are equal
      if (in < out) {
        in *= x.size(from_end++);
      } else {
        out *= shape[to_end++];
      }
    }
    for (int axis = from; axis + 1 < from_end; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      if (x.strides()[at] != x.strides()[at + 1] * x.size(axis + 1)) return std::nullopt;
    }
    Index step = x.strides()[static_cast<std::size_t>(from_end) - 1];
    for (int axis = to_end - 1; axis >= to; --axis) {
      strides[static_cast<std::size_t>(axis)] = step;
      step *= shape[axis];
    }
    from = from_end;
    to = to_end;
  }
  return strides;  // trailing ones keep theirs
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  if (const std::optional<Strides> strides = strides_for(x, shape)) {
    return x.as_strided(shape, *strides, x.offset());
  }
  const Tensor copy = x.clone();
  return copy.as_strided(shape, row_major(shape), 0);
}

void copy_into(const Tensor& from, const Tensor& to) {
  kernels::copy(sizes(from.shape()), raw(from), from.strides().data(), raw(to),
                to.strides().data());
}

Tensor sliced(const Tensor& x, int axis, Index begin, Index size, Index step) {
  const auto at = static_cast<std::size_t>(axis);
  Strides strides = x.strides();
  strides[at] *= step;
  return x.as_strided(x.shape().with(axis, size), strides, x.offset() + begin * x.strides()[at]);
}

}  // namespace

Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes) {
  std::array<Index, Shape::max_ndim> known{};
  Index product = 1;
  std::optional<std::size_t> unknown;
  bool too_large = false;
  const std::string request = "reshape: x is " + to_string(x.shape());
  if (sizes.size() > known.size()) throw Error(request + ": at most six axes are possible.");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    known[i] = sizes.begin()[i];
    if (known[i] != -1) {
      too_large = __builtin_mul_overflow(product, known[i], &product) || too_large;
    } else if (unknown) {
      throw Error(request + ": only one size may be -1, to be inferred.");
    } else {
      unknown = i;
    }
  }
  if (too_large) throw Error(request + ": the sizes asked for are more than memory can hold.");
  if (unknown) {
    if (product <= 0 || x.numel() % product != 0) {
      throw Error(request + " with " + std::to_string(x.numel()) +
                  " elements, which the known sizes (product " + std::to_string(product) +
                  ") do not divide, so -1 cannot be inferred.");
    }
    known[*unknown] = x.numel() / product;
  }
  return reshape(x, Shape(std::span(known.data(), sizes.size())));
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.numel() != shape.numel()) {
    throw Error("reshape: x is " + to_string(x.shape()) + " with " + std::to_string(x.numel()) +
                " elements, but " + to_string(shape) + " has " + std::to_string(shape.numel()) +
                ": the number of elements must stay.");
  }
  return Tape::record("reshape", {x}, reshaped(x, shape),
                      [from = x.shape()](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, reshaped(dy, from));
                      });
}

Tensor transpose(const Tensor& x) { return transpose(x, -2, -1); }

Tensor transpose(const Tensor& x, int one, int other) {
  if (x.ndim() < 2) {
    throw Error("transpose: x is " + to_string(x.shape()) + ": two axes are needed to swap them.");
  }
  std::array<int, Shape::max_ndim> order{};
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(normalized_axis("transpose", one, x.ndim()))],
            order[static_cast<std::size_t>(normalized_axis("transpose", other, x.ndim()))]);
  const std::span axes(order.data(), static_cast<std::size_t>(x.ndim()));
  return Tape::record("transpose", {x}, permuted_view(x, axes),
                      [one, other](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, transpose(dy, one, other));
                      });
}

Tensor permute(const Tensor& x, std::span<const int> order) {
  std::array<int, Shape::max_ndim> forward{}, inverse{};
  bool valid = static_cast<int>(order.size()) == x.ndim();
  for (std::size_t i = 0; valid && i < order.size(); ++i) {
    forward[i] = normalized_axis("permute", order[i], x.ndim());
    const auto seen = std::span(forward).first(i);
    valid = std::find(seen.begin(), seen.end(), forward[i]) == seen.end();
    inverse[static_cast<std::size_t>(forward[i])] = static_cast<int>(i);
  }
  if (!valid) {
    throw Error("permute: x is " + to_string(x.shape()) + ": the order must name each of its " +
                std::to_string(x.ndim()) + " axes exactly once.");
  }
  return Tape::record("permute", {x}, permuted_view(x, std::span(forward.data(), order.size())),
                      [inverse, rank = order.size()](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, permuted_view(dy, std::span(inverse.data(), rank)));
                      });
}

Tensor slice(const Tensor& x, int axis, Index begin, Index end, Index step) {
  const int at = normalized_axis("slice", axis, x.ndim());
  const Index size = x.size(at);
  const Index start = begin < 0 ? begin + size : begin, stop = end < 0 ? end + size : end;
  const bool inside = step > 0   ? 0 <= start && start <= stop && stop <= size
                      : step < 0 ? -1 <= stop && stop <= start && start < size
                                 : false;
  if (!inside) {
    throw Error("slice: x is " + to_string(x.shape()) + "; positions " + std::to_string(begin) +
                " to " + std::to_string(end) + " in steps of " + std::to_string(step) +
                " are not within axis " + std::to_string(axis) + " of size " +
                std::to_string(size) + (step < 0 ? ", backwards." : ", forwards."));
  }
  const Index far = size + 1;
  step = std::clamp(step, -far, far);  // a longer step finds no more, and could overflow
  const Index longest = std::abs(step), count = (std::abs(stop - start) + longest - 1) / longest;
  const Index first = count == 0 ? 0 : start;
  return Tape::record("slice", {x}, sliced(x, at, first, count, step),
                      [at, first, count, step](const Tensor& dy, GradientSink& to) {
                        const Tensor part = sliced(to.gradient_buffer(0), at, first, count, step);
                        copy_into(apply("slice", kernels::active().of<kernels::Add>(), part, dy),
                                  part);
                      });
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) throw Error("concat: there is nothing to join: the list is empty.");
  const int at = normalized_axis("concat", axis, parts.front().ndim());
  Index size = 0;
  for (const Tensor& part : parts) {
    if (part.ndim() != parts.front().ndim() ||
        part.shape().with(at, 0) != parts.front().shape().with(at, 0)) {
      throw Error("concat: parts are " + to_string(parts.front().shape()) + " and " +
                  to_string(part.shape()) + ": sizes must be equal except along axis " +
                  std::to_string(axis) + ".");
    }
    size += part.size(at);
  }
  const Tensor y = Tensor::empty(parts.front().shape().with(at, size));
  Index begin = 0;
  std::vector<Index> lengths;
  for (const Tensor& part : parts) {
    copy_into(part, sliced(y, at, begin, part.size(at), 1));
    begin += part.size(at);
    lengths.push_back(part.size(at));
  }
  return Tape::record("concat", parts, y, [lengths, at](const Tensor& dy, GradientSink& to) {
    Index from = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      to.accumulate(i, sliced(dy, at, from, lengths[i], 1));
      from += lengths[i];
    }
  });
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) throw Error("stack: there is nothing to stack: the list is empty.");
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    if (part.shape() != parts.front().shape()) {
      throw Error("stack: parts are " + to_string(parts.front().shape()) + " and " +
                  to_string(part.shape()) + ": all must have one shape. Did you mean concat?");
    }
    rows.push_back(unsqueeze(part, axis));
  }
  return concat(rows, axis < 0 ? axis + parts.front().ndim() + 1 : axis);
}

std::vector<Tensor> split(const Tensor& x, Index parts, int axis) {
  const Index size = x.size(normalized_axis("split", axis, x.ndim()));
  if (parts < 1 || size % parts != 0) {
    throw Error("split: x is " + to_string(x.shape()) + ": " + std::to_string(parts) +
                " equal parts do not divide axis " + std::to_string(axis) + " of size " +
                std::to_string(size) + ". Use slice for unequal parts.");
  }
  if (parts > most_parts) {  // each part is a tensor; and any number divides a size of 0
    throw Error("split: x is " + to_string(x.shape()) + ": " + std::to_string(parts) +
                " parts are too many for a list, which holds at most " +
                std::to_string(most_parts) + ". Use slice for those that are needed.");
  }
  std::vector<Tensor> result;
  const Index each = size / parts;
  for (Index i = 0; i < parts; ++i) result.push_back(slice(x, axis, i * each, (i + 1) * each));
  return result;
}

Tensor expand(const Tensor& x, const Shape& shape) {
  if (!broadcasts_to(x.shape(), shape)) {
    throw Error("expand: x is " + to_string(x.shape()) + " and does not broadcast to " +
                to_string(shape) + ".");
  }
  return Tape::record("expand", {x}, broadcast_view(x, shape),
                      [](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy); });
}

Tensor squeeze(const Tensor& x, int axis) {
  const int at = normalized_axis("squeeze", axis, x.ndim());
  if (x.size(at) != 1) {
    throw Error("squeeze: x is " + to_string(x.shape()) + ": axis " + std::to_string(axis) +
                " has size " + std::to_string(x.size(at)) + ", only size 1 can be dropped.");
  }
  return reshape(x, x.shape().removed(at));
}

Tensor unsqueeze(const Tensor& x, int axis) {
  return reshape(x, x.shape().inserted(normalized_axis("unsqueeze", axis, x.ndim() + 1), 1));
}

}  // namespace tapestry
