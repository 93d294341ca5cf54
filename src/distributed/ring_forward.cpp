// Forward: tiles of keys and values come by in ascending order, and every query's softmax goes on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "distributed/ring_call.hpp"
#include "distributed/ring_stream.hpp"
#include "distributed/tags.hpp"
#include "kernels/parallel.hpp"
#include "tapestry/memory.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

// The output over the keys met so far, and for each row the logsumexp of its scores, in double: it
// is the sum of as many parts as there are tiles.
class Softmax {
 public:
  explicit Softmax(const RingCall& call)
      : call_(call),
        out_(Tensor::zeros(with_matrix(call.batch, call.rows, call.value_width))),
        log_sums_(static_cast<std::size_t>(call.heads() * call.rows) * sizeof(double)),
        part_(Tensor::empty(
            {call.largest_group() * call.heads() * call.most_rows(), call.value_width})),
        part_sums_(Tensor::empty({part_.size(0)})) {
    std::fill_n(log_sums(), call.heads() * call.rows, -std::numeric_limits<double>::infinity());
  }

  // Adds the keys and values of tile t, (heads, rows, width) and then (heads, rows, value width).
  void meet(const TileGroup& g, const Tensor& q, Index t, const real* tile) {
    const Index keys = call_.layout.rows(t);
    const PairMask mask{&call_, call_.mine.data() + g.first, &t, 1, 0};
    const Stack queries = own_tiles(call_, g, q);
    const Stack k = one_tile(call_, tile, keys, call_.width);
    const Stack v =
        one_tile(call_, tile + call_.heads() * keys * call_.width, keys, call_.value_width);
    const Stack to = tile_by_tile(call_, raw(part_), g.rows, call_.value_width);
    kernels::attention(shape_of_pairs(mask, g.count, g.rows, keys), queries.view(), k.view(),
                       v.view(), {raw(part_), to.strides.data(), to.row}, raw(part_sums_));
    merge(g);
  }

  Tensor output() const { return out_; }

  Tensor log_sum() const {
    const Tensor rounded = Tensor::empty({call_.heads() * call_.rows});
    std::copy_n(log_sums(), rounded.numel(), raw(rounded));
    return rounded;
  }

 private:
  double* log_sums() const { return static_cast<double*>(log_sums_.data()); }

  // Of two parts with the log sums a and b, whose outputs are x and y, the whole has
  // c = log(e^a + e^b), and its output is e^(a - c) x + e^(b - c) y.
  void merge(const TileGroup& g) {
    const Index width = call_.value_width;
    double* const sums = log_sums() + call_.by_tile(g.first);
    const auto merge_rows = [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const double a = sums[r], b = raw(part_sums_)[r];
        if (b == -std::numeric_limits<double>::infinity()) continue;  // sees none of these keys
        const double top = a > b ? a : b;
        sums[r] = top + std::log(std::exp(a - top) + std::exp(b - top));
        const real before = static_cast<real>(std::exp(a - sums[r]));
        const real more = static_cast<real>(std::exp(b - sums[r]));
        real* const x = raw(out_) + call_.row(g, r) * width;
        const real* const y = raw(part_) + r * width;
        for (Index e = 0; e < width; ++e) x[e] = before * x[e] + more * y[e];
      }
    };
    kernels::parallel_parts(g.count * call_.heads() * g.rows, kernels::row_grain(width),
                            merge_rows);
  }

  const RingCall& call_;
  Tensor out_;
  Buffer log_sums_;
  Tensor part_, part_sums_;  // (tiles of a group, heads, rows of a tile, value width), without it
};

}  // namespace

Tensor ring_forward(Ranks& ranks, const RingCall& call, const Tensor& q, const Tensor& k,
                    const Tensor& v, Tensor& log_sum) {
  Softmax softmax(call);
  TileStream tiles(ranks, call.layout, tags::ring_forward,
                   call.heads() * (call.width + call.value_width), [&](Index i, Index t, real* to) {
                     const Index rows = call.layout.rows(t);
                     call.pack(k, i, rows, to);
                     call.pack(v, i, rows, to + call.heads() * rows * call.width);
                   });
  for (Index t = 0; t < call.layout.tiles(); ++t) {
    ranks.enter(t, "ring attention, forward pass");
    const real* tile = tiles.take(t);
    for (const TileGroup& group : call.that_see(t)) {
      softmax.meet(group, q, t, tile);
      tiles.progress();
    }
  }
  tiles.finish();
  log_sum = softmax.log_sum();
  return softmax.output();
}

}  // namespace tapestry
