#include <algorithm>
#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

Tensor mixture_by_blocks(const Tensor& scores, const Tensor& values, Index block) {
  const Index n = values.size(0), d = values.size(1);
  double top = -INFINITY, total = 0;
  std::vector<double> mixed(std::size_t(d), 0.0);
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    const double before = top;
    for (Index j = begin; j < end; ++j) top = std::max(top, double{scores.at({j})});
    const double correction = std::exp(before - top);
    total *= correction;
    for (double& one : mixed) one *= correction;
    for (Index j = begin; j < end; ++j) {
      const double term = std::exp(double{scores.at({j})} - top);
      total += term;
      for (Index c = 0; c < d; ++c) mixed[std::size_t(c)] += term * double{values.at({j, c})};
    }
  }
  Tensor result = Tensor::zeros({d});  // (d)
  for (Index c = 0; c < d; ++c) result.set({c}, mixed[std::size_t(c)] / total);
  return result;
}

}  // namespace learn
