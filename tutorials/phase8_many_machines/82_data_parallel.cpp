// Step 82. How do several ranks train one model, with the result of one?
//
// New here: data-parallel training. Each rank has the whole model and a share of each step's
// micro-batches; gradients are added over all ranks. Written out with the simplest messages, then
// by the library's train_in_parts; on 1 to 8 ranks the weights have the same bits. Then four
// changes that look harmless, and how far each leads away; beside them another seed of dropout.
// Writes no picture; takes about five seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "course/first_rank.hpp"
#include "course/grammar.hpp"
#include "course/parameter_rows.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/distributed/training.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index micro_batches = 8, steps = 30, texts = 4;
constexpr double max_norm = 0.5;  // the longest gradient
constexpr std::uint64_t seed = 5;

// Right, right with another dropout, and what can be done wrong (alike: a control, see `words`).
enum class Way { right, other_seed, mean_of_means, alike, drop_by_rank, clip_by_rank, sum_by_rank };

const Vocabulary vocabulary(Grammar().words());

Transformer new_model() {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary.size(),
                      .max_length = 8,
                      .d_model = 32,
                      .num_heads = 4,
                      .num_layers = 1,
                      .dropout = 0.1},
                     random);
}

// Texts are of different lengths: those of micro-batch i count up to this many words.
Index words_of(Index micro_batch) { return 1 + micro_batch * 5 % 7; }

// Texts depend on step and micro-batch alone; what dropout draws comes from `drop`.
MicroBatch loss_of(const Transformer& model, Index step, Index micro_batch, Index words,
                   Random& drop) {
  Random random = random_of(seed, step, micro_batch, micro_batches);
  Batch batch = Grammar().batch(vocabulary, texts, random);  // (texts, 7)
  for (Index i = 0; i < texts * 7; ++i) {
    if (i % 7 >= words) batch.targets.values[std::size_t(i)] = -1;  // not counted
  }
  const Tensor logits = model(batch.inputs, {}, {.random = &drop});  // (texts, 7, words)
  return sum_of_losses(logits, batch.targets);
}

struct Trained {
  double loss = 0;  // of the last step, all its tokens
  Row weights;
};

// One rank's training, written out.
class ByHand {
 public:
  ByHand(Ranks& ranks, Way way) : ranks_(ranks), way_(way) {}

  Trained train() {
    for (Index step = 1; step <= steps; ++step) {
      adam_.step(tensors_of(sum_over_ranks(gradients_of(step)), adam_.parameters()));
    }
    return {loss_, row_of(model_.parameters())};
  }

 private:
  // Of each of this rank's micro-batches: the gradient of the sum of its losses, and that sum
  // behind it.
  std::vector<Row> gradients_of(Index step) {
    std::vector<Row> rows;
    for (Index i = share_.first; i < share_.last; ++i) {
      Random of_part = random_of(way_ == Way::other_seed ? 98 : 99, step, i, micro_batches);
      Random& drop = way_ == Way::drop_by_rank ? of_rank_ : of_part;
      Tape tape(model_.parameters());
      const MicroBatch made = loss_of(model_, step, i, words(i), drop);
      rows.push_back(row_of(tape.backward(made.loss_sum)));
      rows.back().push_back(made.loss_sum.item());
    }
    change(rows);
    return rows;
  }

  Index words(Index i) const { return way_ == Way::alike ? 4 : words_of(i); }
  double tokens_of(const TreeNode& share) const {
    double tokens = 0;
    for (Index i = share.first; i < share.last; ++i) tokens += double(texts * words(i));
    return tokens;
  }

  // What is right sends the sums as they are.
  void change(std::vector<Row>& rows) const {
    const double all = tokens_of({0, micro_batches}), part = 1.0 / ranks_.size();
    double factor = 1;
    if (way_ == Way::mean_of_means || way_ == Way::alike) factor = part / tokens_of(share_) * all;
    if (way_ == Way::clip_by_rank)  // by the norm of this rank's gradient
      factor = std::min(1.0, max_norm * part * all / length(left_to_right(rows)));
    for (Row& row : rows) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) row[i] *= real(factor);
    }
    if (way_ == Way::sum_by_rank) rows = {left_to_right(rows)};
  }

  static Row left_to_right(const std::vector<Row>& rows) {
    Row sum = rows[0];
    for (std::size_t k = 1; k < rows.size(); ++k) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rows[k][i];
    }
    return sum;
  }

  static double length(const Row& row) {  // without the loss, which is the last number
    double squares = 0;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) squares += double(row[i]) * double(row[i]);
    return std::sqrt(squares);
  }

  // All rows go to rank 0, which adds them in one tree over micro-batches (step 81), divides by the
  // tokens of the whole step, clips, and sends the gradient to all.
  Row sum_over_ranks(std::vector<Row> rows) {
    if (ranks_.rank() != 0) {
      for (const Row& row : rows) send(0, row);
      return receive(0, rows[0].size() - 1);
    }
    for (int from = 1; from < ranks_.size(); ++from) {
      const TreeNode share = share_of(micro_batches, ranks_.size(), from);
      const Index count = way_ == Way::sum_by_rank ? 1 : share.count();
      for (Index i = 0; i < count; ++i) rows.push_back(receive(from, rows[0].size()));
    }
    Row sum = way_ == Way::sum_by_rank ? left_to_right(rows) : tree(rows);
    const double tokens = tokens_of({0, micro_batches});
    loss_ = double(sum.back()) / tokens;
    const double norm = length(sum) / tokens;
    const double clip = way_ == Way::clip_by_rank ? 1 : std::min(1.0, max_norm / (norm + 1e-6));
    for (real& x : sum) x = real(double(x) / tokens * clip);
    sum.pop_back();  // the loss
    for (int to = 1; to < ranks_.size(); ++to) send(to, sum);
    return sum;
  }

  static Row tree(std::vector<Row>& rows) {
    std::vector<TreePart> parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      parts.push_back({{Index(i), Index(i) + 1}, rows[i].data()});
    }
    const real* const sum = add_up({0, Index(rows.size())}, parts, Index(rows[0].size()));
    return {sum, sum + rows[0].size()};
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
  Way way_;
  TreeNode share_ = share_of(micro_batches, ranks_.size(), ranks_.rank());
  Random of_rank_{97, std::uint64_t(ranks_.rank())};  // goes on from draw to draw
  Transformer model_ = new_model();
  Adam adam_{model_.parameters()};
  double loss_ = 0;
};

Trained by_hand(int count, Way way) {
  return of_first_rank(count, [&](Ranks& ranks) { return ByHand(ranks, way).train(); });
}

// The library's: the same, with messages while the backward pass goes on.
Trained by_library(int count, bool divide_state) {
  return of_first_rank(count, [&](Ranks& ranks) -> Trained {
    const Transformer model = new_model();
    Adam adam(model.parameters());
    const auto loss = [&](Index step, Index i) {
      Random drop = random_of(99, step, i, micro_batches);
      return loss_of(model, step, i, words_of(i), drop);
    };
    const Training made =
        train_in_parts(adam, loss, {.micro_batches = micro_batches, .divide_state = divide_state},
                       {.steps = steps, .max_norm = max_norm, .what = ""}, ranks);
    return {made.losses.back(), row_of(model.parameters())};
  });
}

void same_bits(const Trained& alone) {
  const Trained hand = by_hand(1, Way::right);
  std::printf("1. %zu weights after %d steps of %d micro-batches: loss, weights unlike 1 rank's\n",
              alone.weights.size(), int(steps), int(micro_batches));
  std::printf("ranks   by hand          library       library, state divided\n");
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    std::printf("%5d", ranks);
    const Trained runs[] = {by_hand(ranks, Way::right), by_library(ranks, false),
                            by_library(ranks, true)};
    for (const Trained& run : runs) {
      const Row& first = &run == runs ? hand.weights : alone.weights;
      std::printf("   %7.4f %4zu ", run.loss, different(run.weights, first));
    }
    std::printf("\n");
  }
  const Row start = row_of(new_model().parameters());
  const double way = distance(hand.weights, alone.weights) / distance(start, alone.weights);
  std::printf("by hand and library differ by %s of the way from the first weights\n",
              way < 1e-4 ? "less than 0.0001" : "TOO MUCH");
  try {
    by_library(9, false);
  } catch (const Error& error) {
    std::printf("9 ranks: %s\n", error.what());
  }
}

const struct {
  const char* name;
  Way way;
} ways[] = {{"right", Way::right},
            {"right, another seed", Way::other_seed},
            {"summed by rank first", Way::sum_by_rank},
            {"mean of ranks' means", Way::mean_of_means},
            {"means, texts alike long", Way::alike},
            {"dropout drawn by rank", Way::drop_by_rank},
            {"clipped by rank", Way::clip_by_rank}};

void what_breaks_it() {
  const Row start = row_of(new_model().parameters());
  std::printf("\n2. How far the weights are from 1 rank's, in %% of the way that training went\n");
  std::printf("ranks                          2          4          8    loss with 1 and with 8\n");
  for (const auto& [name, way] : ways) {
    const Trained alone = by_hand(1, way == Way::other_seed ? Way::right : way);
    std::printf("%-23s", name);
    Trained last;
    for (const int ranks : {2, 4, 8}) {
      last = by_hand(ranks, way);
      const double part = distance(last.weights, alone.weights) / distance(start, alone.weights);
      std::printf(part == 0 || part > 1e-4 ? " %10.2f" : "  below .01", 100 * part);
    }
    std::printf("    %.3f %.3f\n", alone.loss, last.loss);
  }
}

}  // namespace

int main() try {
  std::printf("Step 82: data-parallel training (takes about five seconds)\n\n");
  same_bits(by_library(1, false));
  what_breaks_it();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
