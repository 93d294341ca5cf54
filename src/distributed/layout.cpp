#include "distributed/layout.hpp"

#include <algorithm>

namespace tapestry {

std::vector<Range> cut(const Range& range, Index size) {
  std::vector<Range> stretches;
  for (Index first = range.first; first < range.last; first += size) {
    stretches.push_back({first, std::min(range.last, first + size)});
  }
  return stretches;
}

std::vector<Range> buckets_of(const Range& range) { return cut(range, 1 << 16); }

ParameterLayout::ParameterLayout(const Parameters& parameters) : starts_{0} {
  for (const Parameter& parameter : parameters) {
    const Index first = starts_.back();
    starts_.push_back(first + parameter.value.numel());
    ranges_.push_back({first, starts_.back()});
  }
}

Range ParameterLayout::owned(int ranks, int rank, bool whole_parameters) const {
  const auto boundary = [&](int number) {
    const Index even = count() * number / ranks;
    if (!whole_parameters || number == 0 || number == ranks) return even;
    const auto above = std::lower_bound(starts_.begin(), starts_.end(), even);
    if (*above == even) return even;
    const Index below = *std::prev(above);
    return *above - even < even - below ? *above : below;
  };
  return {boundary(rank), boundary(rank + 1)};
}

std::pair<std::size_t, std::size_t> ParameterLayout::parameters_in(const Range& range) const {
  const auto position = [&](Index number) {
    return std::size_t(std::lower_bound(starts_.begin(), starts_.end(), number) - starts_.begin());
  };
  return {position(range.first), position(range.last)};
}

}  // namespace tapestry
