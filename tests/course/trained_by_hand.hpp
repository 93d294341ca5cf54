// The training of course models written out, to check that a recipe does what it says.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tapestry/nn/module.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

struct Recipe {
  double peak, floor;
  Index warmup, steps;
};

// Trains with Adam and gradients of length 1 at most; the rate rises in a line, then falls as a
// cosine does. Returns the losses.
inline std::vector<double> train_by_hand(const Module& model, const Recipe& r,
                                         const LossOfStep& loss_of_step) {
  std::vector<double> losses;
  Adam adam(model.parameters());
  for (Index step = 1; step <= r.steps; ++step) {
    Tape tape(model.parameters());
    const Tensor loss = loss_of_step(step);  // ()
    losses.push_back(double{loss.item()});
    Gradients gradients = tape.backward(loss);
    clip_gradient_norm(gradients, 1);
    const double way = double(step - r.warmup) / double(r.steps - r.warmup);
    const double falling =
        r.floor + (r.peak - r.floor) * (1 + std::cos(std::numbers::pi * way)) / 2;
    adam.set_learning_rate(way < 0 ? r.peak * double(step) / double(r.warmup) : falling);
    adam.step(gradients);
  }
  return losses;
}

// The largest difference between the parameters of two models of the same kind.
inline double distance_between(const Module& a, const Module& b) {
  const Parameters of_a = a.parameters(), of_b = b.parameters();
  double largest = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    largest = std::max(largest, largest_difference(of_a[i].value, of_b[i].value));
  }
  return largest;
}

}  // namespace tapestry
