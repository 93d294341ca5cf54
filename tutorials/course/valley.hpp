// The narrow valley of step 07: a linear neuron of two inputs, one `ratio` times as large as the
// other. Turned: the same after a rotation of the inputs by 45 degrees, and of the weights, so that
// the loss has the same shape.
#pragma once

#include <cmath>

#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

struct Valley {
  Tensor x, start, goal;  // (256, 2), (2), (2)

  // from (1, 2): where the descent starts, before the rotation; the goal is then (1, 1).
  Valley(double ratio, bool turned, const Tensor& from = Tensor({1, 2}, {-1, -1})) {
    Random random(5);
    const Tensor inputs = random.normal({256, 2}) * Tensor({2}, {2, 2 / ratio});  // (256, 2)
    const double c = turned ? std::sqrt(0.5) : 1, s = turned ? std::sqrt(0.5) : 0;
    const Tensor rotation({2, 2}, {c, s, -s, c});                 // (2, 2)
    x = matmul(inputs, rotation);                                 // (256, 2)
    start = reshape(matmul(from, rotation), {2});                 // (2)
    goal = reshape(matmul(Tensor::ones({1, 2}), rotation), {2});  // (2)
  }

  [[nodiscard]] Tensor loss(const Tensor& w) const {
    return mse(matmul(x, reshape(w, {2, 1})), matmul(x, reshape(goal, {2, 1})));  // ()
  }
};

}  // namespace tapestry
