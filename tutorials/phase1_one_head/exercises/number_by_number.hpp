// Matrices of doubles: for forms of an exercise that are written number by number.
#pragma once

#include <utility>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

class Numbers {
 public:
  Numbers(Index rows, Index columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}

  // The last axis becomes the columns, all others the rows.
  Numbers(const Tensor& x) : Numbers(x.numel() / x.size(-1), x.size(-1)) {
    const std::vector<real> values = x.values();
    values_.assign(values.begin(), values.end());
  }

  double& operator()(Index i, Index j) { return values_[place(i, j)]; }
  double operator()(Index i, Index j) const { return values_[place(i, j)]; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  Tensor tensor(const Shape& shape) const {
    return {shape, std::vector<real>(values_.begin(), values_.end())};
  }
  Tensor tensor() const { return tensor({rows_, columns_}); }

 private:
  std::size_t place(Index i, Index j) const { return static_cast<std::size_t>(i * columns_ + j); }

  Index rows_, columns_;
  std::vector<double> values_;
};

// The matrix whose element (i, j) is f(i, j).
template <class F>
Numbers matrix(Index rows, Index columns, F f) {
  Numbers made(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) made(i, j) = f(i, j);
  }
  return made;
}

// f(0) + ... + f(count - 1)
template <class F>
double total(Index count, F f) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += f(i);
  return sum;
}

}  // namespace tapestry
