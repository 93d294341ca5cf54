#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

Tensor grouped_queries(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index heads = q.size(0), groups = k.size(0), d = q.size(2);
  const Index heads_of_a_group = heads / groups;
  std::vector<Tensor> outputs;
  for (Index h = 0; h < heads; ++h) {
    const Index g = h / heads_of_a_group;
    const Tensor query = slice(q, 0, h, h + 1);                               // (1, queries, d)
    const Tensor key = slice(k, 0, g, g + 1), value = slice(v, 0, g, g + 1);  // (1, keys, ...)
    const Tensor scores =
        matmul(query, transpose(key)) / std::sqrt(double(d));  // (1, queries, keys)
    outputs.push_back(matmul(softmax(scores), value));         // (1, queries, d_v)
  }
  return concat(outputs, 0);  // (heads, queries, d_v)
}

}  // namespace learn
