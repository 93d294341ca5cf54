// The parts of a block in the checks of 27d and 27e: their numbers as inputs, and their functions.
#pragma once

#include "course/exercise.hpp"
#include "phase2.hpp"

namespace tapestry {

inline void append_parts(NamedTensors& in, Random& random, Index d) {
  in.push_back({"gain of the first norm", random.uniform({d}, 0.5, 2)});
  in.push_back({"shift of the first norm", random.normal({d})});
  in.push_back({"gain of the second norm", random.uniform({d}, 0.5, 2)});
  in.push_back({"shift of the second norm", random.normal({d})});
  in.push_back({"q of attention", random.normal({d, d}, 0, 0.5)});
  in.push_back({"v of attention", random.normal({d, d})});
  in.push_back({"up", random.normal({d, 2 * d}, 0, 0.7)});
  in.push_back({"down", random.normal({2 * d, d}, 0, 0.7)});
}

// The functions whose numbers stand in the inputs from `first` on.
inline BlockParts parts_of(const NamedTensors& in, std::size_t first) {
  const auto norm = [&](std::size_t i) -> RowsFunction {
    return [gain = in[first + i].value, shift = in[first + i + 1].value](const Tensor& x) {
      return layer_norm(x, gain, shift);  // (n, d_model)
    };
  };
  const Tensor q = in[first + 4].value, v = in[first + 5].value;
  const Tensor up = in[first + 6].value, down = in[first + 7].value;
  return {
      .attention_norm = norm(0),
      .attention = [=](const Tensor& x) { return attention(matmul(x, q), x, matmul(x, v)).output; },
      .feed_forward_norm = norm(2),
      .feed_forward = [=](const Tensor& x) { return matmul(gelu(matmul(x, up)), down); }};
}

}  // namespace tapestry
