#include "measures.hpp"

#include <algorithm>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {

Measures measure(const Tensor& weights, const Mask& mask) {
  const Tensor even = uniform_attention(weights.shape(), mask);
  const auto mean_of = [](const Tensor& rows) { return double{mean(rows).item()}; };
  return {mean_of(attention_entropy(weights)), mean_of(attention_entropy(even)),
          mean_of(attention_distance(weights)), mean_of(attention_distance(even))};
}

std::vector<Link> strongest_links(const Tensor& weights, std::size_t count, bool causal) {
  std::vector<Link> links;
  for (Index i = 0; i < weights.size(0); ++i) {
    if ((causal ? i + 1 : weights.size(1)) < 3) continue;
    for (Index j = 0; j < weights.size(1); ++j) links.push_back({i, j, double{weights.at({i, j})}});
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const Link& a, const Link& b) { return a.weight > b.weight; });
  links.resize(std::min(count, links.size()));
  return links;
}

}  // namespace tapestry::command
