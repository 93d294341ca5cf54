#include <vector>

#include "phase8.hpp"

namespace learn {

double fixed_tree_sum(const std::vector<double>& addends, const Addition& add) {
  if (addends.size() == 1) return addends[0];
  std::size_t half = 1;
  while (2 * half < addends.size()) half *= 2;
  const auto middle = addends.begin() + std::ptrdiff_t(half);
  return add(fixed_tree_sum({addends.begin(), middle}, add),
             fixed_tree_sum({middle, addends.end()}, add));
}

}  // namespace learn
