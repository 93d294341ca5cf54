// What the checks of phase 0 share: short ways to write a form number by number, in double.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "course/exercise.hpp"
#include "course/judgement.hpp"

namespace tapestry {

inline Tensor filled(Index rows, Index columns,
                     const std::function<double(Index row, Index column)>& number) {
  Tensor result = Tensor::zeros({rows, columns});  // (rows, columns)
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) result.set({i, j}, number(i, j));
  }
  return result;
}

inline double sum_of(Index count, const std::function<double(Index i)>& number) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += number(i);
  return sum;
}

// A tensor of whole numbers as indices, in the same shape.
inline Indices as_indices(const Tensor& x) {
  const std::vector<real> values = x.values();
  return Indices(x.shape(), {values.begin(), values.end()});
}

// For each of `rows` rows a class out of `classes`.
inline Tensor random_classes(Random& random, Index rows, Index classes) {
  Tensor targets = Tensor::zeros({rows});  // (rows)
  for (Index i = 0; i < rows; ++i) targets.set({i}, double(random.randint(classes)));
  return targets;
}

// The first half of the inputs are square matrices: whatever is transposed by mistake has a shape
// that fits, so that its result can be compared. Only who is right there is tried with the second
// half, of other shapes.
inline Attempt squares_first(Attempt attempt, Attempt solution) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto middle = in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2);
    const NamedTensors squares(in.begin(), middle), others(middle, in.end());
    NamedTensors results = attempt(squares);
    if (!(distance(results, solution(squares)) <= 1e-4)) return results;
    for (NamedTensor& one : attempt(others)) {
      results.push_back({one.name + ", not square", std::move(one.value)});
    }
    return results;
  };
}

}  // namespace tapestry
