#include "tapestry/analysis/jacobian.hpp"

#include <cmath>
#include <vector>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

void check(const char* name, const Tensor& tensor) {
  if (tensor.ndim() >= 2) return;
  throw Error(std::string("jacobian_norms: ") + name + " is " + to_string(tensor.shape()) +
              ": it must be (..., positions, width).");
}

// Adds the squares of gradient (..., positions, width) to sums[position].
void add_squares(const Tensor& gradient, double* sums) {
  const Index width = gradient.size(-1), positions = gradient.size(-2);
  for (Index i = 0; i < gradient.numel(); ++i) {
    const double value = double{raw(gradient)[i]};
    sums[i / width % positions] += value * value;
  }
}

}  // namespace

Tensor jacobian_norms(const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
  check("x", at);
  const Tensor x = at.clone();  // (..., columns, width of x); a tape takes no view
  const Shape shape = [&] {
    const Tensor y = f(x);  // (..., positions, width)
    check("f(x)", y);
    return y.shape();
  }();
  const Index columns = x.size(-2), width = shape[-1];
  std::vector<double> squares(static_cast<std::size_t>(shape[-2] * columns), 0);
  for (Index i = 0; i < shape.numel(); ++i) {
    Tensor seed = Tensor::zeros(shape);  // (..., positions, width)
    raw(seed)[i] = 1;
    Tape tape({x});
    const Tensor y = f(x);  // (..., positions, width)
    add_squares(tape.backward(y, seed)[x], squares.data() + i / width % shape[-2] * columns);
  }
  const Tensor norms = Tensor::empty({shape[-2], columns});  // (positions, columns)
  for (std::size_t i = 0; i < squares.size(); ++i) {
    raw(norms)[i] = static_cast<real>(std::sqrt(squares[i]));
  }
  return norms;
}

Tensor jacobian_norms(const std::function<void()>& run, const std::string& from,
                      const std::string& to) {
  const Shape shape = [&] {
    const Capture seen;
    run();
    return seen[from].shape();
  }();
  // The derivative by a zero that is added there.
  const auto f = [&](const Tensor& added) {
    Capture seen;
    seen.replace(from, [&](const Tensor& x) { return x + added; });
    run();
    return seen[to];
  };
  return jacobian_norms(f, Tensor::zeros(shape));
}

}  // namespace tapestry
