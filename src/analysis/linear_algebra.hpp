// What analysis needs of linear algebra, computed in double by Eigen. Only linear_algebra.cpp
// compiles it.
#pragma once

#include <vector>

#include "tapestry/analysis/circuit.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct AffineMap {
  Tensor weight;  // (in, out)
  Tensor bias;    // (out)
};

// Least squares with a ridge: y is nearly x W + b. Rows come in parts, and only sums are kept.
class LeastSquares {
 public:
  LeastSquares(Index in, Index out);

  // x (rows, in), y (rows, out)
  void add(const Tensor& x, const Tensor& y);

  // Smallest mean of |x W + b - y|^2, plus ridge times the mean variance of x's columns times
  // |W|^2; b costs nothing. ridge must be above 0: then there is one answer, also of few rows.
  AffineMap solve(double ridge) const;

 private:
  Index in_, out_, rows_ = 0;
  std::vector<double> squares_, products_;  // x^T x (in, in), the lower half; x^T y (in, out)
  std::vector<double> x_sum_, y_sum_;
};

// R of a = Q R, Q with orthonormal columns: a (rows, columns) -> (columns, columns); a itself if it
// has fewer rows. |a x| is |R x|: norms of large products of low rank become those of small ones.
[[nodiscard]] Tensor triangular_factor(const Tensor& a);

// left diag(values) right^T = a b^T, largest first: a (m, k), b (n, k) -> left (m, rank), values
// (rank), right (n, rank), rank the least of m, n and k. From the factors of both: a b^T is not
// formed.
[[nodiscard]] SingularValues singular_values_of_product(const Tensor& a, const Tensor& b);

}  // namespace tapestry
