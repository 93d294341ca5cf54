// What parameters() of a layer that is made of layers needs.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

inline void append(Parameters& list, const Parameters& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace tapestry
