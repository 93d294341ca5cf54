// The map with its adapter, in the checks of 76a and 76b: its numbers as inputs.
#pragma once

#include <cmath>

#include "phase7_check.hpp"

namespace tapestry {

// An adapter that has learned something already: B is not 0. With ranks of 2 and 3 all wrong
// scales, such as alpha and the square of alpha / rank, are different numbers.
inline void append_map(NamedTensors& in, Random& random, Index width, Index out, Index rank) {
  in.push_back({"w", random.normal({width, out})});
  in.push_back({"a", random.normal({width, rank})});
  in.push_back({"b", random.normal({rank, out})});
  in.push_back({"alpha", Tensor(random.uniform({}, 1.1, 1.3) + double(rank))});
}

inline AdaptedMap map_of(const NamedTensors& in, std::size_t first) {
  return {in[first].value.clone(), in[first + 1].value.clone(), in[first + 2].value.clone(),
          double{in[first + 3].value.item()}};
}

}  // namespace tapestry
