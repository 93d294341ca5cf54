// Tensors as text: aligned numbers, and one-line summaries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "tapestry/format.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {
namespace {

constexpr Index edge = 3;  // elements shown at each end of an elided axis
constexpr std::size_t columns = 80;

struct Layout {
  char kind;  // printf conversion: f or e
  int digits;
  bool elide;               // show only the ends of long axes
  bool elide_last = false;  // the last axis does not fit the line
  int width = 0;
};

std::string number(real value, const Layout& layout) {
  const double shown = std::isnan(value) ? std::abs(double{value}) : double{value};  // no "-nan"
  return formatted(layout.kind == 'e' ? "%*.*e" : "%*.*f", layout.width, layout.digits, shown);
}

// Whole numbers without a point, very large or small ones with an exponent, others plainly.
Layout layout_for(const Tensor& tensor, const std::vector<real>& values, int digits, Index most) {
  Layout layout{'f', digits, tensor.numel() > most};
  bool whole = true;
  double largest = 0;
  for (const real value : values) {
    if (!std::isfinite(value)) continue;
    whole = whole && value == std::floor(value);
    largest = std::max(largest, std::abs(double{value}));
  }
  if (largest >= 1e6 || (largest > 0 && largest < std::pow(10.0, -digits))) {
    layout.kind = 'e';
  } else if (whole) {
    layout.digits = 0;
  }
  for (const real value : values) {
    layout.width = std::max(layout.width, static_cast<int>(number(value, layout).size()));
  }
  if (tensor.ndim() > 0) {
    const auto one = static_cast<std::size_t>(layout.width) + 1;
    const std::size_t prefix = tensor.ndim() == 1 ? to_string(tensor.shape()).size() + 1 : 0;
    const std::size_t indent = static_cast<std::size_t>(tensor.ndim()) * 2 + prefix;
    layout.elide_last = static_cast<std::size_t>(tensor.size(-1)) * one + indent > columns;
  }
  return layout;
}

void print(const Tensor& tensor, const std::vector<real>& values, int axis, std::size_t& next,
           const Layout& layout, std::string& text) {
  if (axis == tensor.ndim()) {
    text += number(values[next++], layout);
    return;
  }
  const bool last = axis == tensor.ndim() - 1;
  const Index size = tensor.size(axis);
  const bool elide = (layout.elide || (last && layout.elide_last)) && size > 2 * edge;
  const std::string between =
      last ? " " : "\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
  const Index step = row_major(tensor.shape())[static_cast<std::size_t>(axis)];
  text += '[';
  for (Index i = 0; i < size; ++i) {
    if (i > 0) text += between;
    if (elide && i == edge) {
      text += "...";
      next += static_cast<std::size_t>(step * (size - 2 * edge));
      i = size - edge - 1;
      continue;
    }
    print(tensor, values, axis + 1, next, layout, text);
  }
  text += ']';
}

std::string compact(double value) { return formatted("%.4g", value); }

}  // namespace

std::string to_string(const Tensor& tensor, int digits, Index most) {
  if (!tensor.defined()) return "(undefined)";
  const std::vector<real> values = tensor.values();
  const Layout layout = layout_for(tensor, values, digits, most);
  std::string text = to_string(tensor.shape()) + (tensor.ndim() > 1 ? "\n" : " ");
  std::size_t next = 0;
  print(tensor, values, 0, next, layout, text);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::string summary(const Tensor& tensor) {
  if (!tensor.defined()) return "(undefined)";
  std::string text = to_string(tensor.shape());
  Index nan = 0, infinite = 0, finite = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  for (const real value : tensor.values()) {
    if (std::isnan(value)) {
      ++nan;
    } else if (std::isinf(value)) {
      ++infinite;
    } else {
      ++finite;
      low = std::min(low, double{value});
      high = std::max(high, double{value});
      sum += double{value};
    }
  }
  if (finite > 0) {
    text += " min " + compact(low) + " max " + compact(high) + " mean " +
            compact(sum / static_cast<double>(finite));
  } else if (tensor.numel() == 0) {
    text += " empty";
  }
  if (nan > 0) text += "  " + std::to_string(nan) + " NaN!";
  if (infinite > 0) text += "  " + std::to_string(infinite) + " INF!";
  return text;
}

}  // namespace tapestry
