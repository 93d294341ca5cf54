// Numbers that describe one attention map.
#pragma once

#include <vector>

#include "tapestry/mask.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::command {

struct Measures {
  double entropy = 0, even_entropy = 0;    // nats, mean of all queries; "even": equal weights
  double distance = 0, even_distance = 0;  // positions between query and key, mean weighted so
};

// weights (queries, keys), one query at least. A query sees what the mask shows. Definitions:
// analysis/patterns.hpp.
Measures measure(const Tensor& weights, const Mask& mask);

struct Link {
  Index query, key;
  double weight;
};

// The `count` largest weights, largest first, the earlier position first among equals. Queries that
// see less than three keys are left out: with `causal` the first two, and all of a text that short.
// Their weights are large for want of a choice.
std::vector<Link> strongest_links(const Tensor& weights, std::size_t count, bool causal);

}  // namespace tapestry::command
