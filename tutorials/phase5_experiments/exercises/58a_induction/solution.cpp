#include <vector>

#include "phase5.hpp"

namespace learn {

std::vector<Index> keys_behind(const Indices& words) {
  std::vector<Index> keys;
  for (std::size_t i = 0; i < words.values.size(); ++i) {
    Index key = -1;
    for (std::size_t j = 0; j < i; ++j) {  // the last one found stays
      if (words.values[j] == words.values[i]) key = Index(j) + 1;
    }
    keys.push_back(key);
  }
  return keys;
}

double score_behind(const Tensor& weights, const Indices& words) {
  const std::vector<Index> keys = keys_behind(words);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] < 0) continue;
    sum += double{weights.at({Index(i), keys[i]})};
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace learn
