// A learned vector for every word.
#pragma once

#include <string>

#include "tapestry/nn/init.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct Embedding : Module {
  Tensor weight;  // (num_embeddings, width): row i is the vector of id i

  // Throws Error for a size below 1 and an initializer that is null.
  Embedding(Index num_embeddings, Index width, Random& random,
            Initializer initializer = init::normal);

  // ids (...) -> (..., width). Throws Error for an id that is not a row.
  [[nodiscard]] Tensor operator()(const Indices& ids) const;

  Members members() const override;
};

}  // namespace tapestry
