#include <cmath>
#include <string>

#include "analysis/linear_algebra.hpp"
#include "tapestry/analysis/circuit.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

double norm(const Tensor& x) { return std::sqrt(double{sum(x * x).item()}); }

// The maps of a head, with the triangular factors by which norms of their products are those of
// small matrices: |W_Q M W_V^T| = |R_Q M R_V^T|.
struct Maps {
  Tensor query, key, value, output;          // (d_model, d_k), output (d_k, d_model)
  Tensor r_query, r_key, r_value, r_output;  // (d_k, d_k), r_output that of W_O^T
};

Maps maps_of(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& output) {
  return {query,
          key,
          value,
          output,
          triangular_factor(query),
          triangular_factor(key),
          triangular_factor(value),
          triangular_factor(transpose(output))};
}

Maps maps_of(const Circuit& head) { return maps_of(head.query, head.key, head.value, head.output); }

Maps random_maps(const Maps& like, Random& random) {
  const Tensor query = random.normal(like.query.shape());  // (d_model, d_k)
  const Tensor key = random.normal(like.key.shape());      // (d_model, d_k)
  const Tensor value = random.normal(like.value.shape());  // (d_model, d_k)
  return maps_of(query, key, value, random.normal(like.output.shape()));
}

// |W_V W_O reading other^T| over the norms of both: reading (d_model, d_k), other by its factor.
double share(const Maps& earlier, const Tensor& reading, const Tensor& r_reading,
             const Tensor& r_other) {
  const Tensor between = matmul(earlier.output, reading);  // (d_k, d_k)
  const double both = norm(matmul(matmul(earlier.r_value, between), transpose(r_other)));
  const double writes = norm(matmul(earlier.r_value, transpose(earlier.r_output)));
  return both / (writes * norm(matmul(r_reading, transpose(r_other))));
}

Composition composition(const Maps& earlier, const Maps& later) {
  return {.query = share(earlier, later.query, later.r_query, later.r_key),
          .key = share(earlier, later.key, later.r_key, later.r_query),
          .value = share(earlier, later.value, later.r_value, later.r_output)};
}

Spread spread_of(const std::vector<Composition>& drawn, double Composition::* which) {
  const Tensor values = Tensor::empty({static_cast<Index>(drawn.size())});  // (draws)
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    values.data()[i] = static_cast<real>(drawn[i].*which);
  }
  return spread(values);
}

}  // namespace

Compositions compositions(const Transformer& model, Index layer, Index head, std::uint64_t seed,
                          Index draws) {
  if (draws < 2) {
    throw Error("circuit: " + std::to_string(draws) +
                " draws of random matrices have no deviation: take at least 2.");
  }
  const Maps later = maps_of(circuit(model, layer, head));
  Compositions result;
  for (Index i = 0; i < layer; ++i) {
    for (Index j = 0; j < model.options.num_heads; ++j) {
      Composition one = composition(maps_of(circuit(model, i, j)), later);
      one.layer = i, one.head = j;
      result.heads.push_back(one);
    }
  }
  Random random(seed);
  std::vector<Composition> drawn;
  for (Index i = 0; i < draws; ++i) {
    const Maps one = random_maps(later, random), other = random_maps(later, random);
    drawn.push_back(composition(one, other));
  }
  result.query = spread_of(drawn, &Composition::query);
  result.key = spread_of(drawn, &Composition::key);
  result.value = spread_of(drawn, &Composition::value);
  return result;
}

}  // namespace tapestry
