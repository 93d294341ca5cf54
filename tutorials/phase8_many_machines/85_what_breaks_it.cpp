// Step 85. Which changes of data-parallel training look harmless and are not?
//
// New here: four changes of step 82's training, and how far each leads away from what one rank
// learns; beside them two controls. All ranks always have the same weights, so that one model here
// does for all of them, and nothing has to be sent.
// Writes no picture; takes about two seconds.
#include <algorithm>
#include <cstdio>
#include <vector>

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

constexpr Index micro_batches = UnevenTexts::micro_batches, texts = UnevenTexts::texts, steps = 30;
constexpr double max_norm = 0.5;  // the longest gradient

// Right, right with another dropout, and what can be done wrong (alike: a control, see `words`).
enum class Way { right, other_seed, mean_of_means, alike, drop_by_rank, clip_by_rank, sum_by_rank };

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

struct Trained {
  double loss = 0;  // of the last step, all its tokens
  Row weights;
};

// The training of so many ranks.
class AllRanks {
 public:
  AllRanks(int count, Way way) : count_(count), way_(way) {
    for (int r = 0; r < count; ++r) of_rank_.emplace_back(97, std::uint64_t(r));
  }

  Trained train() {
    for (Index step = 1; step <= steps; ++step) {
      loss_ = 0;
      std::vector<Row> rows;
      for (int rank = 0; rank < count_; ++rank) {
        const std::vector<Row> sent = changed(gradients_of(step, rank), rank);
        rows.insert(rows.end(), sent.begin(), sent.end());
      }
      adam_.step(tensors_of(gradient_of(rows), adam_.parameters()));
    }
    return {loss_, row_of(model_.parameters())};
  }

 private:
  // Of each of this rank's micro-batches: the gradient of the sum of its losses.
  std::vector<Row> gradients_of(Index step, int rank) {
    std::vector<Row> rows;
    const TreeNode share = share_of(micro_batches, count_, rank);
    for (Index i = share.first; i < share.last; ++i) {
      Random of_part = random_of(way_ == Way::other_seed ? 98 : 99, step, i, micro_batches);
      Random& drop = way_ == Way::drop_by_rank ? of_rank_[std::size_t(rank)] : of_part;
      Tape tape(model_.parameters());
      const Tensor loss = UnevenTexts::loss_of(model_, step, i, words(i), drop).loss_sum;  // ()
      rows.push_back(row_of(tape.backward(loss)));
      loss_ += double{loss.item()} / tokens_of({0, micro_batches});
    }
    return rows;
  }

  Index words(Index i) const { return way_ == Way::alike ? 4 : UnevenTexts::words_of(i); }
  double tokens_of(const TreeNode& share) const {
    double tokens = 0;
    for (Index i = share.first; i < share.last; ++i) tokens += double(texts * words(i));
    return tokens;
  }

  // What is right sends the sums as they are.
  std::vector<Row> changed(std::vector<Row> rows, int rank) const {
    const double all = tokens_of({0, micro_batches}), part = 1.0 / count_;
    double factor = 1;
    if (way_ == Way::mean_of_means || way_ == Way::alike) {
      factor = part / tokens_of(share_of(micro_batches, count_, rank)) * all;
    }
    if (way_ == Way::clip_by_rank) {  // by the norm of this rank's gradient
      factor = std::min(1.0, max_norm * part * all / length_of(sum_in_order(rows)));
    }
    for (Row& row : rows) {
      for (real& x : row) x *= real(factor);
    }
    if (way_ == Way::sum_by_rank) rows = {sum_in_order(rows)};
    return rows;
  }

  // What rank 0 makes of all rows in step 82.
  Row gradient_of(const std::vector<Row>& rows) const {
    Row sum = way_ == Way::sum_by_rank ? sum_in_order(rows) : sum_in_tree(rows);
    const double tokens = tokens_of({0, micro_batches}), norm = length_of(sum) / tokens;
    const double clip = way_ == Way::clip_by_rank ? 1 : std::min(1.0, max_norm / (norm + 1e-6));
    for (real& x : sum) x = real(double(x) / tokens * clip);
    return sum;
  }

  int count_;
  Way way_;
  std::vector<Random> of_rank_ = {};  // each goes on from draw to draw
  Transformer model_ = UnevenTexts::new_model();
  Adam adam_{model_.parameters()};
  double loss_ = 0;
};

void what_breaks_it() {
  const Row start = row_of(UnevenTexts::new_model().parameters());
  std::printf("How far the weights are from 1 rank's, in %% of the way that training went\n");
  std::printf("ranks                          2          4          8    loss with 1 and with 8\n");
  for (const auto& [name, way] : ways) {
    const Trained alone = AllRanks(1, way == Way::other_seed ? Way::right : way).train();
    std::printf("%-23s", name);
    Trained last;
    for (const int ranks : {2, 4, 8}) {
      last = AllRanks(ranks, way).train();
      const double part = distance(last.weights, alone.weights) / distance(start, alone.weights);
      std::printf(part == 0 || part > 1e-4 ? " %10.2f" : "  below .01", 100 * part);
    }
    std::printf("    %.3f %.3f\n", alone.loss, last.loss);
  }
}

}  // namespace

int main() try {
  std::printf("Step 85: what breaks data-parallel training (takes about two seconds)\n\n");
  what_breaks_it();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
