// Dropout: zeros at random while training.
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

struct Draw {
  kernels::RandomWords random;
  std::uint32_t limit;  // words below it drop
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
  const Draw draw{{random.seed(), random.stream(), random.position()},
                  static_cast<std::uint32_t>(p * 0x1p32),
                  static_cast<real>(1 / (1 - p))};
  random.seek(random.position() + static_cast<std::uint64_t>(x.numel()));
  // Nothing is saved for the backward pass: it draws the same numbers again.
  return Tape::record("dropout", {x}, draw(x),
                      [draw](const Tensor& dy, GradientSink& to) { to.accumulate(0, draw(dy)); });
}

}  // namespace tapestry
