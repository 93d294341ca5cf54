#include "course/training_rank.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "course/ring.hpp"

namespace tapestry {
namespace {

Transformer new_model() {
  Random random(1);
  return Transformer({.vocab_size = 256, .max_length = 64, .d_model = 128, .num_heads = 4}, random);
}

}  // namespace

TrainingRank::TrainingRank(Ranks& all)
    : ranks(all),
      model(new_model()),
      adam(model.parameters()),
      gradients(row_of(model.parameters()).size(), real(0)) {}

MicroBatch TrainingRank::loss(Index step, Index micro_batch) const {
  Random random = random_of(3, step, micro_batch, micro_batches);
  std::vector<std::int32_t> ids(256);
  for (std::int32_t& id : ids) id = std::int32_t(random.randint(256));
  const Indices texts({4, 64}, ids);
  return sum_of_losses(model(texts), texts);  // logits (4, 64, 256)
}

void TrainingRank::compute(Index step, Index micro_batch) {
  Tape tape(model.parameters());
  const Row more = row_of(tape.backward(loss(step, micro_batch).loss_sum));
  for (std::size_t i = 0; i < more.size(); ++i) gradients[i] += more[i];
}

void TrainingRank::all_reduce() { ring_all_reduce(ranks, gradients); }

void TrainingRank::update() {
  adam.step(tensors_of(gradients, model.parameters()));
  std::fill(gradients.begin(), gradients.end(), real(0));
}

}  // namespace tapestry
