// Data in shuffled batches: each epoch has every item once, in a new order.
//
//   Epochs epochs(images.size(0), 64, seed);
//   train(adam, [&](Index step) {
//     const Indices ids = epochs.batch(step);
//     return cross_entropy(model(take(images, ids)), take(labels, ids));
//   });
//
//   for (const Indices& ids : epochs.epoch(1)) ...  // one epoch, batch by batch
#pragma once

#include <cstdint>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

struct EpochOptions {
  bool shuffle = true;     // false: always 0, 1, 2, ...
  bool drop_last = false;  // leave out the last batch of an epoch if it is smaller
};

// The items of a batch depend on the seed and the batch's number alone, so that a resumed run
// continues with the same batches. Epochs and steps are counted from 1.
class Epochs {
 public:
  // Throws Error for sizes below 1, for more than 2^31 - 1 items, and if all would be dropped.
  Epochs(Index items, Index batch_size, std::uint64_t seed, const EpochOptions& options = {});

  Index batches() const { return batches_; }  // in one epoch; the last may be smaller

  // The items, (batch_size) or fewer, of a step: step 1 is the first batch of epoch 1, and step
  // batches() + 1 that of epoch 2. Throws Error for a step below 1.
  [[nodiscard]] Indices batch(Index step);

  // All batches of that epoch. Throws Error for an epoch below 1.
  [[nodiscard]] std::vector<Indices> epoch(Index number);

 private:
  void deal(Index epoch);
  Indices cut(Index number) const;

  Index items_, batch_size_, batches_;
  std::uint64_t seed_;
  EpochOptions options_;
  Index dealt_ = 0;  // the epoch of order_; 0: none yet
  std::vector<Index> order_;
};

// The items of data (items, ...) with these numbers (...), in their order: (ids..., ...). The
// gradient of a tensor passes through. Throws Error for rank 0, and for an id that is no item.
[[nodiscard]] Tensor take(const Tensor& data, const Indices& ids);
[[nodiscard]] Indices take(const Indices& data, const Indices& ids);

}  // namespace tapestry
