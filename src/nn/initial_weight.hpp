// The weight that a layer begins with.
#pragma once

#include <string>

#include "tapestry/error.hpp"
#include "tapestry/nn/init.hpp"

namespace tapestry {

// What the initializer makes. Throws Error, in the name of the layer, if it is null.
inline Tensor initial_weight(const char* layer, Initializer initializer, const Shape& shape,
                             Random& random) {
  if (initializer == nullptr) {
    throw Error(std::string(layer) +
                ": the initializer is null: give a function, such as init::normal, or leave that "
                "option out.");
  }
  return initializer(shape, random);
}

}  // namespace tapestry
