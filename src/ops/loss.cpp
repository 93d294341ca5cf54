// The losses cross_entropy, binary_cross_entropy and mse.
#include <algorithm>
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

void check(const Tensor& logits, const Indices& targets) {
  targets.check("cross_entropy");
  if (logits.ndim() < 1 || logits.shape().removed(-1) != targets.shape) {
    throw Error("cross_entropy: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must have the targets' shape and a last axis of classes.");
  }
  const Index classes = logits.size(-1);
  const auto begin = targets.values.begin(), end = targets.values.end();
  const auto bad = std::find_if(begin, end, [&](Index target) { return target >= classes; });
  if (bad == end) return;
  throw Error("cross_entropy: target " + std::to_string(*bad) + " at place " +
              std::to_string(bad - begin) + " is not one of the " + std::to_string(classes) +
              " classes (0 to " + std::to_string(classes - 1) +
              "). Use a negative target to ignore a position.");
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Indices& targets) {
  check(logits, targets);
  const Index classes = logits.size(-1), rows = targets.shape.numel();
  const Tensor dense = logits.contiguous();      // (..., classes)
  const Tensor log_sum = Tensor::empty({rows});  // (rows)
  kernels::logsumexp(raw(dense), raw(log_sum), rows, classes);
  double total = 0;
  Index counted = 0;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t target = targets.values[static_cast<std::size_t>(row)];
    if (target < 0) continue;
    total += double{raw(log_sum)[row]} - double{raw(dense)[row * classes + target]};
    ++counted;
  }
  const double share = 1 / static_cast<double>(std::max<Index>(counted, 1));
  return Tape::record("cross_entropy", {logits}, Tensor(total * share),  // ()
                      [logits = Tape::save(dense), log_sum = Tape::save(log_sum), targets, share,
                       rows, classes](const Tensor& dy, GradientSink& to) {
                        const Tensor d_logits = Tensor::empty(logits.shape());  // (..., classes)
                        const real scale = static_cast<real>(double{dy.item()} * share);
                        kernels::cross_entropy_backward(raw(logits), raw(log_sum),
                                                        targets.values.data(), scale, raw(d_logits),
                                                        rows, classes);
                        to.accumulate(0, d_logits);
                      });
}

namespace {

void check(const Tensor& logits, const Tensor& targets) {
  if (logits.shape() != targets.shape()) {
    throw Error("binary_cross_entropy: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape()) + ": the shapes must be equal.");
  }
  for (Index i = 0; i < targets.numel(); ++i) {
    const real target = raw(targets)[i];
    if (target >= 0 && target <= 1) continue;
    throw Error("binary_cross_entropy: target " + exact_text(target) + " at place " +
                std::to_string(i) + " is not from 0 (no) to 1 (yes).");
  }
}

// -(t log p + (1 - t) log(1 - p)) = |x| miss + log(1 + exp(-|x|)): miss is the share of the target
// on the other side of x. For an infinite x the first term is 0 where miss is 0.
double binary_loss(double x, double target) {
  const double miss = x > 0 ? 1 - target : target;
  return (miss == 0 ? 0 : std::abs(x) * miss) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets) {
  const Tensor x = logits.contiguous(), t = targets.contiguous();  // (...) each
  check(x, t);
  double total = 0;
  for (Index i = 0; i < x.numel(); ++i) {
    total += binary_loss(double{raw(x)[i]}, double{raw(t)[i]});
  }
  const double share = 1 / static_cast<double>(std::max<Index>(x.numel(), 1));
  return Tape::record(
      "binary_cross_entropy", {logits, targets}, Tensor(total * share),  // ()
      [x = Tape::save(x), t = Tape::save(t), share](const Tensor& dy, GradientSink& to) {
        const Tensor scale = dy * share;                                       // ()
        if (to.needs_gradient(0)) to.accumulate(0, (sigmoid(x) - t) * scale);  // (...)
        if (to.needs_gradient(1)) to.accumulate(1, -x * scale);                // (...)
      });
}

Tensor mse(const Tensor& prediction, const Tensor& target) {
  if (prediction.shape() != target.shape()) {
    throw Error("mse: prediction is " + to_string(prediction.shape()) + ", target is " +
                to_string(target.shape()) + ": the shapes must be equal.");
  }
  const Tensor difference = prediction - target;  // (...)
  return mean(difference * difference);           // ()
}

}  // namespace tapestry
