// Dropout: zeros at random while training.
#include <algorithm>
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

struct Draw {
  kernels::RandomBlocks random;
  std::uint32_t limit;  // 16 bits below it drop
  real scale;

  Tensor operator()(const Tensor& x) const {
    const Tensor dense = x.contiguous();
    Tensor y = Tensor::empty(x.shape());
    kernels::dropout(raw(dense), raw(y), y.numel(), random, limit, scale);
    return y;
  }
};

}  // namespace

Tensor dropout(const Tensor& x, double p, Random& random) {
  if (!(p >= 0 && p < 1)) {
    throw Error("dropout: p is " + exact_text(p) + ", but must be in [0, 1).");
  }
  if (p == 0) return x;
  constexpr double steps = 0x1p16;  // of p; the last one would drop all
  const double limit = std::min(std::round(p * steps), steps - 1);
  using Group = kernels::DropoutGroup;
  constexpr std::uint64_t words = 4 * Group::blocks;
  const std::uint64_t first = (random.position() + words - 1) / words;
  const auto groups = static_cast<std::uint64_t>((x.numel() + Group::numbers - 1) / Group::numbers);
  random.seek((first + groups) * words);
  const Draw draw{{random.seed(), random.stream(), first * Group::blocks},
                  static_cast<std::uint32_t>(limit),
                  static_cast<real>(steps / (steps - limit))};
  // Nothing is saved for the backward pass: it draws the same numbers again.
  return Tape::record("dropout", {x}, draw(x),
                      [draw](const Tensor& dy, GradientSink& to) { to.accumulate(0, draw(dy)); });
}

}  // namespace tapestry
