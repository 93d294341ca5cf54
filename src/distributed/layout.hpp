// All numbers of a list of parameters in one row, and which rank owns which of them.
#pragma once

#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

struct Range {
  Index first = 0, last = 0;
  Index count() const { return last - first; }
};

// Stretches of a range, of `size` numbers; the last may be shorter.
std::vector<Range> cut(const Range& range, Index size);

// Stretches of a range that travel as one message each: long enough for the speed of a connection,
// and so many that one is added while others are under way.
std::vector<Range> buckets_of(const Range& range);

class ParameterLayout {
 public:
  explicit ParameterLayout(const Parameters& parameters);

  Index count() const { return starts_.back(); }                // numbers in all
  const std::vector<Range>& ranges() const { return ranges_; }  // of each parameter

  // What a rank owns: equal parts, or whole parameters, as equal as they allow.
  Range owned(int ranks, int rank, bool whole_parameters) const;
  // The parameters that lie within a range of whole ones: [first, last).
  std::pair<std::size_t, std::size_t> parameters_in(const Range& range) const;

 private:
  std::vector<Range> ranges_;
  std::vector<Index> starts_;  // of each parameter, and the end
};

}  // namespace tapestry
