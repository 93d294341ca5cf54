// Numbers that describe one attention map.
#pragma once

#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry::command {

struct Measures {
  double entropy = 0, even_entropy = 0;    // nats, mean of all queries; "even": equal weights
  double distance = 0, even_distance = 0;  // positions between query and key, mean weighted so
};

// weights (queries, keys), one query at least. A query sees all keys, or, if causal, those up to
// its own position. Definitions: analysis/patterns.hpp.
Measures measure(const Tensor& weights, bool causal);

struct Link {
  Index query, key;
  double weight;
};

// The `count` largest weights, largest first, the earlier position first among equals. With
// `causal` the first query is left out: it has no choice but itself.
std::vector<Link> strongest_links(const Tensor& weights, std::size_t count, bool causal);

}  // namespace tapestry::command
