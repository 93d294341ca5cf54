#include "tapestry/nn/embedding.hpp"

#include "nn/initial_weight.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

Embedding::Embedding(Index words, Index width, Random& random, Initializer initializer) {
  if (words < 1 || width < 1) {
    throw Error("embedding: sizes are words = " + std::to_string(words) +
                ", width = " + std::to_string(width) + ": both must be at least 1.");
  }
  weight = initial_weight("embedding", initializer, {words, width}, random);
}

Tensor Embedding::operator()(const Indices& ids) const { return embedding(weight, ids); }

}  // namespace tapestry
