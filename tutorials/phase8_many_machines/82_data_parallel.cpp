// Step 82. How do several ranks train one model, with the result of one?
//
// New here: data-parallel training. Each rank has the whole model and a share of each step's
// micro-batches; gradients are added over all ranks. Written out with the simplest messages, then
// by the library's train_in_parts; on 1 to 8 ranks the weights have the same bits. The model, a
// small GPT with dropout, and its texts stand in course/uneven_texts.hpp.
// Writes no picture; takes about two seconds.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "course/first_rank.hpp"
#include "course/parameter_rows.hpp"
#include "course/uneven_texts.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index micro_batches = UnevenTexts::micro_batches, steps = 30;
constexpr double max_norm = 0.5;  // the longest gradient

// Texts depend on step and micro-batch, and so does what dropout draws: never on the rank.
MicroBatch loss_of(const Transformer& model, Index step, Index micro_batch) {
  Random drop = random_of(99, step, micro_batch, micro_batches);
  return UnevenTexts::loss_of(model, step, micro_batch, UnevenTexts::words_of(micro_batch), drop);
}

struct Trained {
  double loss = 0;  // of the last step, all its tokens
  Row weights;
};

// One rank's training, written out.
class ByHand {
 public:
  explicit ByHand(Ranks& ranks) : ranks_(ranks) {}

  Trained train() {
    for (Index step = 1; step <= steps; ++step) {
      adam_.step(tensors_of(sum_over_ranks(gradients_of(step)), adam_.parameters()));
    }
    return {loss_, row_of(model_.parameters())};
  }

 private:
  // Of each of this rank's micro-batches: the gradient of the sum of its losses, and behind it that
  // sum and the number of tokens.
  std::vector<Row> gradients_of(Index step) {
    const TreeNode share = share_of(micro_batches, ranks_.size(), ranks_.rank());
    std::vector<Row> rows;
    for (Index i = share.first; i < share.last; ++i) {
      Tape tape(model_.parameters());
      const MicroBatch made = loss_of(model_, step, i);
      rows.push_back(row_of(tape.backward(made.loss_sum)));
      rows.back().push_back(made.loss_sum.item());
      rows.back().push_back(real(made.tokens));
    }
    return rows;
  }

  // All rows go to rank 0, which adds them in one tree over micro-batches (step 81), divides by the
  // tokens of the whole step, clips, and sends the gradient to all.
  Row sum_over_ranks(std::vector<Row> rows) {
    if (ranks_.rank() != 0) {
      for (const Row& row : rows) send(0, row);
      return receive(0, rows[0].size() - 2);
    }
    for (int from = 1; from < ranks_.size(); ++from) {
      const TreeNode share = share_of(micro_batches, ranks_.size(), from);
      for (Index i = 0; i < share.count(); ++i) rows.push_back(receive(from, rows[0].size()));
    }
    Row sum = sum_in_tree(rows);
    const double tokens = double(sum.back());
    sum.pop_back();
    loss_ = double(sum.back()) / tokens;
    sum.pop_back();
    const double norm = length_of(sum) / tokens;
    const double clip = std::min(1.0, max_norm / (norm + 1e-6));
    for (real& x : sum) x = real(double(x) / tokens * clip);
    for (int to = 1; to < ranks_.size(); ++to) send(to, sum);
    return sum;
  }

  void send(int to, const Row& row) {
    Message message = ranks_.send(to, 1, std::as_bytes(std::span(row)));
    ranks_.wait(message);
  }
  Row receive(int from, std::size_t count) {
    Row row(count);
    Message message = ranks_.receive(from, 1, std::as_writable_bytes(std::span(row)));
    ranks_.wait(message);
    return row;
  }

  Ranks& ranks_;
  Transformer model_ = UnevenTexts::new_model();
  Adam adam_{model_.parameters()};
  double loss_ = 0;
};

Trained by_hand(int count) {
  return of_first_rank(count, [](Ranks& ranks) { return ByHand(ranks).train(); });
}

// The library's: the same, with messages while the backward pass goes on.
Trained by_library(int count, bool shard_state) {
  return of_first_rank(count, [&](Ranks& ranks) -> Trained {
    const Transformer model = UnevenTexts::new_model();
    Adam adam(model.parameters());
    const auto loss = [&](Index step, Index i) { return loss_of(model, step, i); };
    const Training made =
        train_in_parts(adam, loss, {.micro_batches = micro_batches, .shard_state = shard_state},
                       {.steps = steps, .max_norm = max_norm, .what = ""}, ranks);
    return {made.losses.back(), row_of(model.parameters())};
  });
}

void same_bits() {
  const Trained alone = by_library(1, false), hand = by_hand(1);
  std::printf("%zu weights after %d steps of %d micro-batches: loss, weights unlike 1 rank's\n",
              alone.weights.size(), int(steps), int(micro_batches));
  std::printf("ranks   by hand          library       library, state divided\n");
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    std::printf("%5d", ranks);
    const Trained runs[] = {by_hand(ranks), by_library(ranks, false), by_library(ranks, true)};
    for (const Trained& run : runs) {
      const Row& first = &run == runs ? hand.weights : alone.weights;
      std::printf("   %7.4f %4zu ", run.loss, different(run.weights, first));
    }
    std::printf("\n");
  }
  const Row start = row_of(UnevenTexts::new_model().parameters());
  const double way = distance(hand.weights, alone.weights) / distance(start, alone.weights);
  std::printf("by hand and library differ by %s of the way from the first weights\n",
              way < 1e-4 ? "less than 0.0001" : "TOO MUCH");
  try {
    by_library(9, false);
  } catch (const Error& error) {
    std::printf("9 ranks: %s\n", error.what());
  }
}

}  // namespace

int main() try {
  std::printf("Step 82: data-parallel training (takes about two seconds)\n\n");
  same_bits();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
