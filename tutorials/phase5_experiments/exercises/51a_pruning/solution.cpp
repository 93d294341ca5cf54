#include <cmath>
#include <vector>

#include "phase5.hpp"

namespace learn {

Tensor cost_alone(const HeadLoss& loss, Index heads) {
  std::vector<bool> kept(std::size_t(heads), true);
  const double whole = loss(kept);
  Tensor costs = Tensor::zeros({heads});  // (heads)
  for (Index h = 0; h < heads; ++h) {
    kept[std::size_t(h)] = false;
    costs.set({h}, loss(kept) - whole);
    kept[std::size_t(h)] = true;
  }
  return costs;
}

std::vector<Index> pruning_order(const HeadLoss& loss, Index heads) {
  std::vector<bool> kept(std::size_t(heads), true);
  std::vector<Index> order;
  while (Index(order.size()) < heads) {
    Index best = 0;
    double smallest = INFINITY;
    for (Index h = 0; h < heads; ++h) {
      if (!kept[std::size_t(h)]) continue;
      kept[std::size_t(h)] = false;
      const double without = loss(kept);
      kept[std::size_t(h)] = true;
      if (without < smallest) smallest = without, best = h;
    }
    kept[std::size_t(best)] = false;
    order.push_back(best);
  }
  return order;
}

}  // namespace learn
