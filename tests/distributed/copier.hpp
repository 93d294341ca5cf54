// The model that the tests of several ranks train.
#pragma once

#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

// A small model with dropout, and with a tensor that no loss depends on.
struct Copier {
  Tensor words, w, gain, bias, out, unused;

  Copier() : gain(Tensor::ones({8})), bias(Tensor::zeros({8})), unused(Tensor::ones({3})) {
    Random random(1);
    words = random.normal({11, 8});
    w = random.normal({8, 8}, 0, 0.4);
    out = random.normal({8, 11}, 0, 0.4);
  }

  Parameters parameters() const {
    return {{"words", words}, {"w", w},     {"gain", gain},
            {"bias", bias},   {"out", out}, {"unused", unused}};
  }

  // Each micro-batch has another number of targets; of micro-batch 2 none counts.
  LossOfMicroBatch loss(Index micro_batches) const {
    return [model = *this, micro_batches](Index step, Index micro_batch) {
      Random random = random_of(42, step, micro_batch, micro_batches);
      std::vector<std::int32_t> drawn(15), targets;
      for (std::int32_t& id : drawn) id = static_cast<std::int32_t>(random.randint(11));
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const bool ignored = micro_batch == 2 || Index(i) < micro_batch;
        targets.push_back(ignored ? -1 : drawn[i]);
      }
      const Indices ids({3, 5}, drawn);
      const Tensor x = layer_norm(embedding(model.words, ids), model.gain, model.bias);
      const Tensor q = matmul(x, model.w);  // (3, 5, 8)
      const Tensor y = x + dropout(attention(q, q, x, Mask::causal()).output, 0.1, random);
      return sum_of_losses(matmul(y, model.out), Indices({3, 5}, targets));
    };
  }
};

}  // namespace tapestry
