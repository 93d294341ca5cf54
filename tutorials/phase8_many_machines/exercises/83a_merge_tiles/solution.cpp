#include <algorithm>
#include <cmath>

#include "phase8.hpp"

namespace learn {

KeySums merge_tiles(const KeySums& a, const KeySums& b) {
  const Index rows = a.top.size(0), width = a.mixed.size(1);
  KeySums all{Tensor::full({rows}, -INFINITY), Tensor::zeros({rows}),
              Tensor::zeros({rows, width})};  // (rows) twice, (rows, d_v)
  for (Index i = 0; i < rows; ++i) {
    const double top_a{a.top.at({i})}, top_b{b.top.at({i})}, top = std::max(top_a, top_b);
    if (top == -INFINITY) continue;  // no key in either
    const double of_a = std::exp(top_a - top), of_b = std::exp(top_b - top);
    all.top.set({i}, top);
    all.total.set({i}, of_a * double{a.total.at({i})} + of_b * double{b.total.at({i})});
    for (Index c = 0; c < width; ++c) {
      all.mixed.set({i, c}, of_a * double{a.mixed.at({i, c})} + of_b * double{b.mixed.at({i, c})});
    }
  }
  return all;
}

}  // namespace learn
