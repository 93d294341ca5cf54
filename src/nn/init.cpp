#include "tapestry/nn/init.hpp"

#include <cmath>
#include <string>

#include "tapestry/error.hpp"

namespace tapestry::init {
namespace {

void check(const char* name, const Shape& shape) {
  if (shape.ndim() < 2) {
    throw Error(std::string(name) + ": the shape " + to_string(shape) +
                " has no sizes (in, out) to scale by. Use init::normal, or zeros for a bias.");
  }
}

}  // namespace

Tensor normal(const Shape& shape, Random& random) { return random.normal(shape, 0, 0.02); }

Tensor xavier_uniform(const Shape& shape, Random& random) {
  check("xavier_uniform", shape);
  const double bound = std::sqrt(6.0 / static_cast<double>(shape[-2] + shape[-1]));
  return random.uniform(shape, -bound, bound);
}

Tensor lecun_normal(const Shape& shape, Random& random) {
  check("lecun_normal", shape);
  return random.normal(shape, 0, 1 / std::sqrt(static_cast<double>(shape[-2])));
}

}  // namespace tapestry::init
