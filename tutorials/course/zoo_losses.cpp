// Loss curves of the zoo: a small transformer that learns to predict the grammar's next word.
#include <algorithm>
#include <cmath>
#include <functional>

#include "course/grammar.hpp"
#include "course/zoo.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/schedules.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

constexpr Index rows = 16;

using Loss = std::function<Tensor(const Tensor& logits, const Batch& batch)>;  // ()

// The change of weight i at a step, counted from 1.
using Rule = std::function<Tensor(std::size_t i, Index step, const Tensor& gradient)>;

constexpr Index steps = 150;

struct Lesson {
  Rule rule;
  Loss loss = [](const Tensor& logits, const Batch& batch) {
    return cross_entropy(logits, batch.targets);  // ()
  };
  bool is_causal = true;
  bool same_batch = false;  // the generator is made anew for each step, from the same seed
};

Transformer fresh_model(Index vocab_size, bool is_causal) {
  Random random(2);
  return Transformer({.vocab_size = vocab_size,
                      .max_length = 7,
                      .d_model = 16,
                      .num_heads = 2,
                      .num_layers = 1,
                      .is_causal = is_causal,
                      .initializer = init::lecun_normal},
                     random);
}

void change(const Tensor& weight, const Tensor& by) {
  const Tensor added = by.contiguous();  // shaped like the weight
  for (Index i = 0; i < weight.numel(); ++i) weight.data()[i] += added.data()[i];
}

// The loss of each step (last), up to the first that is no number.
Tensor losses_of(const Lesson& lesson, Index last = steps) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const Transformer model = fresh_model(vocabulary.size(), lesson.is_causal);
  std::vector<real> losses;
  for (Index step = 1; step <= last; ++step) {
    Random random(9, static_cast<std::uint64_t>(lesson.same_batch ? 1 : step));
    const Batch batch = grammar.batch(vocabulary, rows, random);  // (rows, 7)
    Tape tape(model.parameters());
    const Tensor loss = lesson.loss(model(batch.inputs), batch);  // ()
    losses.push_back(loss.item());
    if (!std::isfinite(losses.back())) break;
    const Gradients gradients = tape.backward(loss);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      change(model.parameters()[i].value, lesson.rule(i, step, gradients.at(i)));
    }
  }
  return Tensor({static_cast<Index>(losses.size())}, losses);  // (last)
}

// What a rule remembers of each weight; zeros at the beginning.
Tensor& memory(std::vector<Tensor>& all, std::size_t i, const Tensor& like) {
  if (all.size() <= i) all.resize(i + 1);
  if (!all[i].defined()) all[i] = Tensor::zeros(like.shape());
  return all[i];
}

Rule descent(double rate) {
  return [=](std::size_t, Index, const Tensor& gradient) { return gradient * -rate; };
}

Rule never_zeroed(double rate) {
  return [=, sums = std::vector<Tensor>()](std::size_t i, Index, const Tensor& gradient) mutable {
    Tensor& sum = memory(sums, i, gradient);
    sum = sum + gradient;  // as .backward() adds, where nothing sets it back
    return sum * -rate;
  };
}

using Rate = std::function<double(Index step)>;

Rule adam(const Rate& rate, bool corrected = true) {
  return [=, means = std::vector<Tensor>(), squares = std::vector<Tensor>()](
             std::size_t i, Index step, const Tensor& gradient) mutable {
    Tensor &mean = memory(means, i, gradient), &square = memory(squares, i, gradient);
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const double n = static_cast<double>(step);
    const double a = corrected ? 1 - std::pow(0.9, n) : 1;
    const double b = corrected ? 1 - std::pow(0.999, n) : 1;
    return -rate(step) * (mean / a) / (sqrt(square / b) + 1e-8);
  };
}

Rule adam(double rate, bool corrected = true) {
  return adam([=](Index) { return rate; }, corrected);
}

// Each word is its own target.
Tensor not_shifted(const Tensor& logits, const Batch& batch) {
  return cross_entropy(logits, batch.inputs);  // ()
}

// exp(x) / sum exp(x) of the targets, as the formula says: (rows, 7, 1).
Tensor target_shares(const Tensor& logits, const Batch& batch) {
  const Tensor up = exp(logits);                 // (rows, 7, vocabulary)
  const Tensor shares = up / sum(up, -1, true);  // (rows, 7, vocabulary)
  Indices targets = batch.targets;               // (rows, 7)
  targets.shape = {rows, 7, 1};
  return gather(shares, 2, targets);
}

Tensor by_the_formula(const Tensor& logits, const Batch& batch) {
  return -mean(log(target_shares(logits, batch)));  // ()
}

ZooPair targets_not_shifted() {
  return {losses_of({adam(1e-2), not_shifted}), losses_of({adam(1e-2)})};
}

ZooPair gradients_never_zeroed() {
  return {losses_of({never_zeroed(0.2)}), losses_of({descent(0.2)})};
}

constexpr double rate_of_loss3 = 3e-2;

ZooPair not_corrected() {
  return {losses_of({adam(rate_of_loss3, false)}), losses_of({adam(rate_of_loss3)})};
}

double too_high(Index step) {
  return cosine_schedule(step, {.peak = 1.5, .warmup_steps = 60, .steps = steps});
}

ZooPair no_maximum() {
  return {losses_of({adam(too_high), by_the_formula}), losses_of({adam(too_high)})};
}

ZooPair no_mask() {
  Lesson open{adam(1e-2)};
  open.is_causal = false;
  return {losses_of(open), losses_of({adam(1e-2)})};
}

ZooPair one_batch() {
  Lesson again{adam(1e-2)};
  again.same_batch = true;
  return {losses_of(again), losses_of({adam(1e-2)})};
}

const std::vector<ZooCase> cases = {
    {"loss1",
     ZooKind::loss,
     "A model that sees only the words before cannot stay below the dashed line. This one does, "
     "and ends close to 0. What did it learn?",
     "The targets were not shifted: each word was its own target.",
     "The loss goes to 0. To say the word that stands at a position needs no other word, and "
     "nothing is left to guess.",
     {},
     targets_not_shifted},
    {"loss2",
     ZooKind::loss,
     "Plain gradient descent. At first it is faster than the right one. And then?",
     "The gradients were never set to zero: each step went along the sum of all gradients so "
     "far.",
     "The sum is a velocity that does not fade, momentum with a factor of 1. At first it helps; "
     "then the weights overshoot, and the loss rises in jumps. After step 57 the curve is above "
     "the picture.",
     {},
     gradients_never_zeroed},
    {"loss3",
     ZooKind::loss,
     "Adam, with the same learning rate in both. Which one looks as if it had a higher rate?",
     "Adam was written without its bias correction.",
     "Both means begin at 0. The mean square has the longer memory, so it stays too small for "
     "longer, and its root divides. So step t is (1 - 0.9^t) / sqrt(1 - 0.999^t) times as long as "
     "it should be for these gradients: 3.2 times at step 1, 6.5 times at step 10, and still 2.7 "
     "times at step 150. In the whole picture the steps are too long, as with a higher rate.",
     {},
     not_corrected},
    {"loss4",
     ZooKind::loss,
     "The learning rate rises, becomes far too high, and falls again. One curve ends early. Why "
     "only that one?",
     "The loss was computed as the formula says: the logarithm of exp(x) divided by the sum of "
     "exp(x).",
     "The curve stops. Where a logit is above 88, exp overflows; where a share is small, it is "
     "rounded to 0, whose logarithm is infinite, and before that 1 / share, which the gradient "
     "needs, overflows. Here it was a share: no logit reached 88. The right one computes x - max - "
     "log(sum of exp(x - max)), which is a number, and comes down again with the rate. Before the "
     "end both compute the same function and differ by rounding alone. At so high a rate that is "
     "enough to part the curves: so do two right curves, one of TAPESTRY_KERNELS=avx2 and one "
     "of avx512.",
     {},
     no_maximum},
    {"loss5",
     ZooKind::loss,
     "Another one below the dashed line. It begins like the right one. Where does it learn what "
     "the right one cannot know?",
     "The mask is missing: each word sees the next one, which is its target.",
     "At first the curves lie close together. Then the model has learned to use the later words: "
     "only they can tell more than the earlier words do. In loss1 the targets were wrong, here "
     "they are right.",
     {},
     no_mask},
    {"loss6",
     ZooKind::loss,
     "A third one below the dashed line. How does its curve differ from those of loss1 and "
     "loss5?",
     "Every step read the same batch: the generator was made anew from the same seed.",
     "The curve is smooth: nothing is drawn, so no batch is harder than another. The model "
     "learns 16 sentences by heart. But nothing tells it which of them comes: all begin in the "
     "same way. The 16 are different, so guesses of whole sentences lose at least ln 16 on "
     "average. The mean loss of its seven words cannot fall below ln 16 / 7 = 0.396. The dashed "
     "line holds for sentences that are drawn.",
     {},
     one_batch},
};

}  // namespace

std::vector<ZooCase> zoo_losses() { return cases; }

double zoo_first_step(bool broken) {
  double largest = 0;
  const Rule rule = adam(rate_of_loss3, !broken);
  const auto watched = [&](std::size_t i, Index step, const Tensor& gradient) {
    const Tensor by = rule(i, step, gradient);  // shaped like the weight
    largest = std::max(largest, double{max(abs(by)).item()});
    return by;
  };
  losses_of({watched}, 1);
  return largest / rate_of_loss3;
}

ZooEnd zoo_end() {
  ZooEnd end{0, -INFINITY, INFINITY};
  losses_of({adam(too_high), [&](const Tensor& logits, const Batch& batch) {
               const double largest{max(logits).item()};
               if (std::isfinite(largest)) {
                 end.steps += 1;
                 end.largest_logit = std::max(end.largest_logit, largest);
                 end.least_share =
                     std::min(end.least_share, double{min(target_shares(logits, batch)).item()});
               }
               return by_the_formula(logits, batch);
             }});
  return end;
}

}  // namespace tapestry
