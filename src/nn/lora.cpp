#include "tapestry/nn/lora.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

Lora::Lora(Index in, Index out, Index rank, double alpha_, Random& random)
    : alpha(alpha_ == 0 ? static_cast<double>(rank) : alpha_) {
  if (rank < 1 || rank > std::min(in, out)) {
    throw Error("low rank: the rank is " + std::to_string(rank) + ", but for a map of shape " +
                to_string(Shape{in, out}) + " it must be 1 to " +
                std::to_string(std::min(in, out)) + ".");
  }
  if (!(alpha > 0) || !std::isfinite(alpha)) {
    throw Error("low rank: alpha is " + exact_text(alpha) +
                ", but must be a number above 0, or 0 for that of the rank.");
  }
  down = init::lecun_normal({in, rank}, random);  // (in, rank)
  up = Tensor::zeros({rank, out});                // (rank, out)
}

Tensor Lora::operator()(const Tensor& x) const {
  return linear(scale() * linear(x, down, {}), up, {});  // (..., out)
}

Tensor Lora::change() const { return scale() * matmul(down, up); }  // (in, out)

Members Lora::members() const { return {{"down", down}, {"up", up}}; }

}  // namespace tapestry
