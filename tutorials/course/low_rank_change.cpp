#include "course/low_rank_change.hpp"

#include <algorithm>
#include <string>

#include "tapestry/analysis/circuit.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

// Of a matrix: of x I^T.
SingularValues singular_values(const Tensor& x) {
  Circuit circuit;
  circuit.query = x;
  circuit.key = Tensor::eye(x.size(1));
  return query_key_singular_values(circuit);
}

bool is_map(const std::string& name) {
  return name.starts_with("blocks.") && name.ends_with(".weight");
}

double share(const Tensor& x, Index rank) {
  const Tensor values = singular_values(x).values;  // (least of rows and columns)
  const Tensor squares = values * values;
  const Index most = std::min(rank, squares.numel());
  return double{sum(slice(squares, 0, 0, most)).item()} / double{sum(squares).item()};
}

// The matrix of that rank that is closest to x.
Tensor of_rank(const Tensor& x, Index rank) {
  const SingularValues s = singular_values(x);
  const Index most = std::min(rank, s.values.numel());
  const Tensor left = slice(s.left, 1, 0, most);             // (rows, most)
  const Tensor right = slice(s.right, 1, 0, most);           // (columns, most)
  const Tensor scaled = left * slice(s.values, 0, 0, most);  // (rows, most)
  return matmul(scaled, transpose(right));                   // (rows, columns)
}

}  // namespace

double share_of_change(const Transformer& before, const Transformer& after, Index rank) {
  const Parameters old = before.parameters(), now = after.parameters();
  double sum = 0, maps = 0;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!is_map(old[i].name)) continue;
    sum += share(now[i].value - old[i].value, rank);
    ++maps;
  }
  return sum / maps;
}

double share_of_random(const Transformer& like, Index rank, std::uint64_t seed) {
  Random random(seed);
  double sum = 0, maps = 0;
  for (const Parameter& one : like.parameters()) {
    if (!is_map(one.name)) continue;
    sum += share(random.normal(one.value.shape()), rank);
    ++maps;
  }
  return sum / maps;
}

Transformer with_rank(const Transformer& before, const Transformer& after, Index rank) {
  Random unused(0);
  Transformer result(before.options, unused);
  const Parameters all = result.parameters(), old = before.parameters(), now = after.parameters();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensor x = now[i].value;
    if (is_map(all[i].name)) {
      x = old[i].value;
      if (rank > 0) x = x + of_rank(now[i].value - x, rank);
    }
    std::copy_n(x.contiguous().data(), x.numel(), all[i].value.data());
  }
  return result;
}

}  // namespace tapestry
