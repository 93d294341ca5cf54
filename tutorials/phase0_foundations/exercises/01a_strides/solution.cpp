#include <utility>

#include "phase0.hpp"

namespace learn {

std::vector<Index> strides_of(const std::vector<Index>& shape) {
  std::vector<Index> strides(shape.size());
  Index step = 1;
  for (auto i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Index place_of(const Layout& layout, const std::vector<Index>& position) {
  Index place = layout.start;
  for (std::size_t i = 0; i < position.size(); ++i) place += position[i] * layout.strides[i];
  return place;
}

Layout transposed_layout(const Layout& layout) {
  Layout result = layout;
  const auto last = layout.shape.size() - 1;
  std::swap(result.shape[last - 1], result.shape[last]);
  std::swap(result.strides[last - 1], result.strides[last]);
  return result;
}

}  // namespace learn
