// What the checks of 07 share: an optimizer's step, made once for each row of given gradients.
#pragma once

#include <functional>

#include "course/exercise.hpp"

namespace tapestry {

// A step with all that it needs but the weight and its gradient (n each).
using Step = std::function<void(Tensor& weight, const Tensor& gradient)>;

// start (n), gradients (steps, n) -> the weights after each step, (steps, n)
inline Tensor weights_after_steps(const Tensor& start, const Tensor& gradients, const Step& step) {
  Tensor weight = start.clone();  // (n)
  std::vector<Tensor> weights;
  for (Index i = 0; i < gradients.size(0); ++i) {
    const Tensor gradient = squeeze(slice(gradients, 0, i, i + 1), 0).clone();  // (n)
    step(weight, gradient);
    weights.push_back(weight.clone());
  }
  return stack(weights, 0);
}

// The weights after steps by `function`, with a memory that begins with zeros and what further
// numbers the inputs hold, from the third on: the rate, and so on.
template <class Memory, class... Number>
Attempt stepped(std::function<void(Tensor&, const Tensor&, Memory&, Number...)> function,
                Memory (*begin)(const Tensor& start)) {
  return [=](const NamedTensors& in) -> NamedTensors {
    Memory memory = begin(in[0].value);
    const Step step = [&](Tensor& weight, const Tensor& gradient) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        function(weight, gradient, memory, double{in.at(2 + i).value.item()}...);
      }(std::make_index_sequence<sizeof...(Number)>());
    };
    return {{"weights after each step", weights_after_steps(in[0].value, in[1].value, step)}};
  };
}

}  // namespace tapestry
