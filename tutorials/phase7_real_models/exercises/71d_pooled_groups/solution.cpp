#include "phase7.hpp"

namespace learn {

Tensor pooled_groups(const Tensor& w, Index heads, Index groups) {
  const Index rows = w.size(0), d = w.size(1) / heads, heads_of_a_group = heads / groups;
  Tensor result = Tensor::zeros({rows, groups * d});  // (d_model, groups d)
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < groups * d; ++column) {
      const Index group = column / d, c = column % d;
      double sum = 0;
      for (Index i = 0; i < heads_of_a_group; ++i) {
        sum += double{w.at({row, (group * heads_of_a_group + i) * d + c})};
      }
      result.set({row, column}, sum / double(heads_of_a_group));
    }
  }
  return result;
}

}  // namespace learn
