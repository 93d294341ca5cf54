#include "tapestry/distributed/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "distributed/exchange.hpp"
#include "distributed/gradient_sum.hpp"
#include "distributed/tags.hpp"
#include "kernels/parallel_all.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"
#include "training/steps.hpp"

namespace tapestry {

MicroBatch sum_of_losses(const Tensor& logits, const Indices& targets) {
  const auto counts = [](std::int32_t target) { return target >= 0; };
  const auto tokens = double(std::count_if(targets.values.begin(), targets.values.end(), counts));
  return {cross_entropy(logits, targets) * tokens, tokens};
}

Random random_of(std::uint64_t seed, Index step, Index micro_batch, Index micro_batches) {
  return Random(seed, static_cast<std::uint64_t>((step - 1) * micro_batches + micro_batch + 1));
}

namespace {

constexpr Index norm_block = 4096;  // numbers whose squares are added at once

void scale(const Tensor& row, const Range& range, double factor) {
  const kernels::Sizes sizes{1, {range.count()}};
  const Index every = 1, same = 0;
  const auto by = static_cast<real>(factor);
  real* const numbers = raw(row) + range.first;
  kernels::binary(kernels::active().of<kernels::Multiply>(), sizes, numbers, &every, &by, &same,
                  numbers);
}

// One run: what train_in_parts needs from step to step.
class Run {
 public:
  Run(Optimizer& optimizer, const LossOfMicroBatch& loss, const PartsOptions& parts,
      const TrainingOptions& options, Ranks& ranks)
      : optimizer_(optimizer),
        loss_(loss),
        parts_(parts),
        options_(options),
        ranks_(ranks),
        sum_(ranks, optimizer.parameters(), parts.micro_batches, parts.shard_state) {
    if (!parts.shard_state) return;
    const auto [first, last] = sum_.layout().parameters_in(sum_.own());
    optimizer.drop_state_outside(first, last);
  }

  MadeStep make_step(Index step);

 private:
  Range everything() const { return {0, sum_.layout().count()}; }
  Range mine() const { return parts_.shard_state ? sum_.own() : everything(); }
  MicroBatch forward(Index step, Index micro_batch);
  Tensor gradients_of(Index step);
  void begin_to_gather_losses();
  std::pair<double, double> sum_of_losses_and_tokens();
  double norm(const Tensor& gradients);
  void update(const Tensor& gradients);
  void share_weights(const Tensor& row);
  [[noreturn]] void stop(Index step, double loss);
  std::string cause(Index step, Index micro_batch);

  Optimizer& optimizer_;
  const LossOfMicroBatch& loss_;
  const PartsOptions& parts_;
  const TrainingOptions& options_;
  Ranks& ranks_;
  GradientSum sum_;
  std::vector<std::array<double, 2>> losses_;  // and tokens of each micro-batch: in one message
  std::vector<Message> losses_under_way_;
};

MicroBatch Run::forward(Index step, Index micro_batch) {
  ranks_.enter(step, "forward pass");
  MicroBatch made = loss_(step, micro_batch);
  if (!(made.tokens >= 0) || !std::isfinite(made.tokens)) {
    throw Error("train: micro-batch " + std::to_string(micro_batch) + " of step " +
                std::to_string(step) + " has " + exact_text(made.tokens) +
                " tokens: it must be 0 or more.");
  }
  losses_[static_cast<std::size_t>(micro_batch)] = {double{made.loss_sum.item()}, made.tokens};
  ranks_.enter(step, "backward pass");
  return made;
}

// The sums over all micro-batches (all numbers); with a divided state this rank's own are complete.
Tensor Run::gradients_of(Index step) {
  losses_.assign(static_cast<std::size_t>(parts_.micro_batches), {});
  const TreeNode& share = sum_.share();
  for (Index i = share.first; i < share.last; ++i) {
    Tape tape(optimizer_.parameters());
    const MicroBatch made = forward(step, i);
    if (i + 1 < share.last) {
      sum_.add(i, tape.backward(made.loss_sum));
    } else {
      begin_to_gather_losses();
      sum_.begin_last(i);
      tape.backward(made.loss_sum, sum_);
    }
  }
  ranks_.enter(step, "sum of gradients");
  return sum_.finish();
}

// They are known before the last backward pass, and travel while it goes on.
void Run::begin_to_gather_losses() {
  std::vector<Range> shares(static_cast<std::size_t>(ranks_.size()));
  int rank = 0;
  for (Range& part : shares) {
    const TreeNode share = share_of(parts_.micro_batches, ranks_.size(), rank++);
    part = {share.first, share.last};
  }
  losses_under_way_ = begin_gather(ranks_, std::span(losses_), shares, tags::losses);
}

std::pair<double, double> Run::sum_of_losses_and_tokens() {
  for (Message& message : losses_under_way_) ranks_.wait(message);
  std::vector<double> all_losses, all_tokens;
  for (const auto& [loss, tokens] : losses_) {
    all_losses.push_back(loss);
    all_tokens.push_back(tokens);
  }
  return {add_up(all_losses), add_up(all_tokens)};
}

// Blocks do not cross parameters, so that whoever owns whole parameters has whole blocks.
double Run::norm(const Tensor& gradients) {
  std::vector<double> squares;
  std::vector<Range> owned(static_cast<std::size_t>(ranks_.size()));
  const auto owner_of = [&](Index number) {
    std::size_t rank = 0;
    while (number >= sum_.owned()[rank].last) ++rank;
    return rank;
  };
  for (const Range& all : sum_.layout().ranges()) {
    for (const Range& block : cut(all, norm_block)) {
      const bool here = block.first >= mine().first && block.first < mine().last;
      const auto number = static_cast<Index>(squares.size());
      Range& range = owned[owner_of(block.first)];
      range = {range.count() == 0 ? number : range.first, number + 1};
      const real* const numbers = raw(gradients) + block.first;
      squares.push_back(here ? kernels::sum_squares(numbers, block.count()) : 0);
    }
  }
  if (parts_.shard_state) gather(ranks_, std::span(squares), owned, tags::norms);
  return std::sqrt(add_up(squares));
}

void Run::update(const Tensor& gradients) {
  std::vector<Tensor> given(optimizer_.parameters().size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Range& range = sum_.layout().ranges()[i];
    if (range.first < mine().first || range.last > mine().last) continue;
    const Shape& shape = optimizer_.parameters()[i].value.shape();
    given[i] = gradients.as_strided(shape, row_major(shape), range.first);
  }
  optimizer_.step(given);
}

// Whoever updated a parameter sends it to all.
void Run::share_weights(const Tensor& row) {
  const ParameterLayout& layout = sum_.layout();
  const auto [first, last] = layout.parameters_in(sum_.own());
  const auto numbers = [&](std::size_t i) { return raw(row) + layout.ranges()[i].first; };
  const auto bytes = [&](std::size_t i) {
    return static_cast<std::size_t>(layout.ranges()[i].count()) * sizeof(real);
  };
  for (std::size_t i = first; i < last; ++i) {
    std::memcpy(numbers(i), raw(optimizer_.parameters()[i].value), bytes(i));
  }
  const std::span<real> all(raw(row), static_cast<std::size_t>(layout.count()));
  gather(ranks_, all, sum_.owned(), tags::weights);
  for (std::size_t i = 0; i < layout.ranges().size(); ++i) {
    if (i >= first && i < last) continue;
    std::memcpy(raw_to_change(optimizer_.parameters()[i].value), numbers(i), bytes(i));
  }
}

MadeStep Run::make_step(Index step) {
  const Tensor gradients = gradients_of(step);  // (all numbers)
  const auto [loss, counted] = sum_of_losses_and_tokens();
  const double tokens = std::max(counted, 1.0);
  const MadeStep made{loss / tokens, norm(gradients) / tokens};
  if (!std::isfinite(made.loss) || !std::isfinite(made.gradient_norm)) stop(step, made.loss);
  const double divisor = made.gradient_norm + 1e-6;  // as clip_gradient_norm
  const double clip = std::min(options_.max_norm / divisor, 1.0);
  scale(gradients, mine(), clip / tokens);
  if (options_.learning_rate) optimizer_.set_learning_rate(options_.learning_rate(step));
  ranks_.enter(step, "update of the weights");
  update(gradients);
  if (parts_.shard_state) share_weights(gradients);
  return made;
}

// Repeats a micro-batch with all values kept, to find the reason; empty if all in it is finite.
std::string Run::cause(Index step, Index micro_batch) {
  Tape tape(optimizer_.parameters(), Tape::Keep::values);
  const MicroBatch made = loss_(step, micro_batch);
  const Gradients gradients = tape.backward(made.loss_sum);
  if (std::isfinite(double{made.loss_sum.item()}) && std::isfinite(gradient_norm(gradients))) {
    return "";
  }
  const std::string first = tape.first_non_finite();
  return "micro-batch " + std::to_string(micro_batch) + " on rank " +
         std::to_string(ranks_.rank()) + ": " +
         (first.empty() ? "no single operation made it: finite numbers overflowed together"
                        : first);
}

void Run::stop(Index step, double loss) {
  ranks_.enter(step, "search for the first number that is not finite");
  std::string found;
  for (Index i = sum_.share().first; i < sum_.share().last && found.empty(); ++i) {
    found = cause(step, i);
  }
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const std::string there = text_of(ranks_, rank, found);
    if (found.empty()) found = there;
  }
  if (found.empty()) found = "each micro-batch has finite numbers, whose sum overflowed";
  stop_at(step, loss, found);
}

void check(const PartsOptions& parts, const Ranks& ranks) {
  const auto refuse = [](const std::string& problem) { throw Error("train: " + problem); };
  if (parts.micro_batches < 1) {
    refuse("micro_batches is " + std::to_string(parts.micro_batches) + ": it must be 1 or more.");
  }
  if (ranks.size() > parts.micro_batches) {
    refuse(std::to_string(ranks.size()) + " ranks share " + std::to_string(parts.micro_batches) +
           " micro-batches, and some would have none: take more micro-batches, or fewer ranks.");
  }
}

}  // namespace

Training train_in_parts(Optimizer& optimizer, const LossOfMicroBatch& loss_of_micro_batch,
                        const PartsOptions& parts, const TrainingOptions& options, Ranks& ranks) {
  if (!loss_of_micro_batch) throw Error("train: there is no function to make the loss.");
  check_training(options);
  check(parts, ranks);
  Run run(optimizer, loss_of_micro_batch, parts, options, ranks);
  return make_steps(optimizer, options, ranks.rank() == 0,
                    [&](Index step) { return run.make_step(step); });
}

}  // namespace tapestry
