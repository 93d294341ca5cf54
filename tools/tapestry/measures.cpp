#include "measures.hpp"

#include <algorithm>
#include <cmath>

namespace tapestry::command {

Measures measure(const Tensor& weights, bool causal) {
  const Index queries = weights.size(0), keys = weights.size(1);
  Measures sum;
  for (Index i = 0; i < queries; ++i) {
    const Index seen = causal ? std::min(i + 1, keys) : keys;
    double apart = 0;
    for (Index j = 0; j < keys; ++j) {
      const double w = double{weights.at({i, j})}, distance = std::abs(double(i - j));
      if (w > 0) sum.entropy -= w * std::log(w);
      sum.distance += w * distance;
      if (j < seen) apart += distance;
    }
    sum.even_entropy += std::log(double(seen));
    sum.even_distance += apart / double(seen);
  }
  const double n = double(std::max<Index>(queries, 1));
  return {sum.entropy / n, sum.even_entropy / n, sum.distance / n, sum.even_distance / n};
}

std::vector<Link> strongest_links(const Tensor& weights, std::size_t count, bool causal) {
  std::vector<Link> links;
  for (Index i = causal ? 1 : 0; i < weights.size(0); ++i) {
    for (Index j = 0; j < weights.size(1); ++j) links.push_back({i, j, double{weights.at({i, j})}});
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const Link& a, const Link& b) { return a.weight > b.weight; });
  links.resize(std::min(count, links.size()));
  return links;
}

}  // namespace tapestry::command
