#include "tapestry/nn/embedding.hpp"

#include "nn/initial_weight.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

Embedding::Embedding(Index num_embeddings, Index width, Random& random, Initializer initializer) {
  if (num_embeddings < 1 || width < 1) {
    throw Error("embedding: sizes are num_embeddings = " + std::to_string(num_embeddings) +
                ", width = " + std::to_string(width) + ": both must be at least 1.");
  }
  weight = initial_weight("embedding", initializer, {num_embeddings, width}, random);
}

Tensor Embedding::operator()(const Indices& ids) const { return embedding(weight, ids); }

Members Embedding::members() const { return {{"weight", weight}}; }

}  // namespace tapestry
