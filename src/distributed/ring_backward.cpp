// Backward, twice round the ring: for the gradients of the own queries, then for those of the own
// keys and values. Both sum over tiles in ascending order.
#include <algorithm>

#include "distributed/ring_call.hpp"
#include "distributed/ring_stream.hpp"
#include "distributed/tags.hpp"
#include "kernels/parallel.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

class Backward {
 public:
  Backward(Ranks& ranks, const RingCall& call, const RingSaved& x)
      : ranks_(ranks), call_(call), x_(x), delta_(Tensor::empty(x.log_sum.shape())) {
    const Index columns = call.value_width;
    for (const TileGroup& g : call.that_see(0)) {
      real* const delta = raw(delta_) + call.by_tile(g.first);
      const auto sum_rows = [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) {
          const Index at = call.row(g, row) * columns;
          double sum = 0;
          for (Index e = 0; e < columns; ++e) {
            sum += static_cast<double>(raw(x.out)[at + e]) * raw(x.d_out)[at + e];
          }
          delta[row] = static_cast<real>(sum);
        }
      };
      kernels::parallel_parts(g.count * call.heads() * g.rows, kernels::row_grain(columns),
                              sum_rows);
    }
  }

  // Tiles of keys and values come by. A rank alone adds up what they get, too: to.d_k, to.d_v.
  void of_queries(RingGradients& to) {
    const Index numbers = call_.width + call_.value_width;
    TileStream tiles(ranks_, call_.layout, tags::ring_keys, call_.heads() * numbers,
                     [&](Index i, Index t, real* room) {
                       const Index rows = call_.layout.rows(t);
                       call_.pack(x_.k, i, rows, room);
                       call_.pack(x_.v, i, rows, room + call_.heads() * rows * call_.width);
                     });
    const Room room(call_, to);
    for (Index t = 0; t < call_.layout.tiles(); ++t) {
      ranks_.enter(t, "ring attention, backward pass of queries");
      const real* tile = tiles.take(t);
      for (const TileGroup& g : call_.that_see(t)) {
        meet_keys(g, t, tile, room, to);
        tiles.progress();
      }
    }
    tiles.finish();
  }

  // Tiles of queries, gradients of their output, log sums and deltas come by.
  void of_keys(RingGradients& to) {
    const Index numbers = call_.width + call_.value_width + 2;
    TileStream tiles(ranks_, call_.layout, tags::ring_queries, call_.heads() * numbers,
                     [&](Index i, Index t, real* room) { pack_queries(i, t, room); });
    const Room room(call_, {{}, to.d_k, to.d_v});
    for (Index t = 0; t < call_.layout.tiles(); ++t) {
      ranks_.enter(t, "ring attention, backward pass of keys");
      const real* tile = tiles.take(t);
      for (const TileGroup& g : call_.seen_by(t)) {
        meet_queries(g, t, tile, room, to);
        tiles.progress();
      }
    }
    tiles.finish();
  }

 private:
  // What the kernels give for the pairs of one call: (tiles of a group, heads, rows, ...).
  struct Room {
    Tensor d_q, d_k, d_v, log_sum;

    Room(const RingCall& call, const RingGradients& wanted) {
      const Index rows = call.largest_group() * call.heads() * call.most_rows();
      if (wanted.d_q.defined()) d_q = Tensor::empty({rows, call.width});
      if (wanted.d_k.defined()) d_k = Tensor::empty({rows, call.width});
      if (wanted.d_k.defined()) d_v = Tensor::empty({rows, call.value_width});
      log_sum = Tensor::empty({rows});
    }
  };

  // How these numbers lie, for kernels: stacks without numbers of their own. They must outlive what
  // `of` returns.
  struct RoomStrides {
    Stack q, k, v;

    RoomStrides(const RingCall& call, Index queries, Index keys)
        : q(tile_by_tile(call, nullptr, queries, call.width)),
          k(tile_by_tile(call, nullptr, keys, call.width)),
          v(tile_by_tile(call, nullptr, keys, call.value_width)) {}

    kernels::AttentionRooms of(const Room& room) const {
      return {{numbers(room.d_q), q.strides.data(), q.row},
              {numbers(room.d_k), k.strides.data(), k.row},
              {numbers(room.d_v), v.strides.data(), v.row}};
    }
    static real* numbers(const Tensor& x) { return x.defined() ? raw(x) : nullptr; }
  };

  void meet_keys(const TileGroup& g, Index t, const real* tile, const Room& room,
                 RingGradients& to) const {
    const Index keys = call_.layout.rows(t), heads = call_.heads();
    const PairMask mask{&call_, call_.mine.data() + g.first, &t, 1, 0};
    const Stack k = one_tile(call_, tile, keys, call_.width);
    const Stack v = one_tile(call_, tile + heads * keys * call_.width, keys, call_.value_width);
    const Stack delta = row_sums(call_, raw(delta_) + call_.by_tile(g.first), g.rows, false);
    kernels::attention_backward(
        shape_of_pairs(mask, g.count, g.rows, keys), own_tiles(call_, g, x_.q).view(), k.view(),
        v.view(), delta.view(), own_tiles(call_, g, x_.d_out).view(),
        raw(x_.log_sum) + call_.by_tile(g.first), RoomStrides(call_, g.rows, keys).of(room));
    if (to.d_q.defined()) add(g, raw(room.d_q), to.d_q);
    if (!to.d_k.defined()) return;
    const TileGroup whole{t, 1, keys};  // alone: tile t is the t-th of this rank
    for (Index i = 0; i < g.count; ++i) {
      add(whole, raw(room.d_k) + i * heads * keys * call_.width, to.d_k);
      add(whole, raw(room.d_v) + i * heads * keys * call_.value_width, to.d_v);
    }
  }

  void pack_queries(Index i, Index t, real* room) const {
    const Index rows = call_.layout.rows(t), all = call_.heads() * rows;
    call_.pack(x_.q, i, rows, room);
    call_.pack(x_.d_out, i, rows, room + all * call_.width);
    real* const more = room + all * (call_.width + call_.value_width);
    const Index first = call_.by_tile(i);
    std::copy_n(raw(x_.log_sum) + first, all, more);
    std::copy_n(raw(delta_) + first, all, more + all);
  }

  void meet_queries(const TileGroup& g, Index t, const real* tile, const Room& room,
                    RingGradients& to) const {
    const Index queries = call_.layout.rows(t), all = call_.heads() * queries;
    const PairMask mask{&call_, &t, call_.mine.data() + g.first, 0, 1};
    const real* const gradient = tile + all * call_.width;
    const real* const log_sum = gradient + all * call_.value_width;
    real* const sums = raw(room.log_sum);
    for (real* to_tile = sums; to_tile != sums + g.count * all; to_tile += all) {
      std::copy_n(log_sum, all, to_tile);
    }
    kernels::attention_backward(shape_of_pairs(mask, g.count, queries, g.rows),
                                one_tile(call_, tile, queries, call_.width).view(),
                                own_tiles(call_, g, x_.k).view(), own_tiles(call_, g, x_.v).view(),
                                row_sums(call_, log_sum + all, queries, true).view(),
                                one_tile(call_, gradient, queries, call_.value_width).view(),
                                raw(room.log_sum), RoomStrides(call_, queries, g.rows).of(room));
    add(g, raw(room.d_k), to.d_k);
    add(g, raw(room.d_v), to.d_v);
  }

  // to (..., rows, columns) += part (tiles of the group, heads, rows of a tile, columns)
  void add(const TileGroup& g, const real* part, const Tensor& to) const {
    const Index columns = to.size(-1);
    const auto add_rows = [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        real* const sum = raw(to) + call_.row(g, r) * columns;
        for (Index e = 0; e < columns; ++e) sum[e] += part[r * columns + e];
      }
    };
    kernels::parallel_parts(g.count * call_.heads() * g.rows, kernels::row_grain(columns),
                            add_rows);
  }

  Ranks& ranks_;
  const RingCall& call_;
  const RingSaved& x_;
  Tensor delta_;  // (own tiles, heads, rows of a tile): row sums of d_out * out
};

}  // namespace

RingGradients ring_backward(Ranks& ranks, const RingCall& call, const RingSaved& x, bool for_q,
                            bool for_kv) {
  RingGradients to;
  if (for_q) to.d_q = Tensor::zeros(with_matrix(call.batch, call.rows, call.width));
  if (for_kv) {
    to.d_k = Tensor::zeros(with_matrix(call.batch, call.rows, call.width));
    to.d_v = Tensor::zeros(with_matrix(call.batch, call.rows, call.value_width));
  }
  Backward pass(ranks, call, x);
  if (ranks.size() == 1) {
    pass.of_queries(to);
    return to;
  }
  RingGradients of_queries{to.d_q, {}, {}};
  if (for_q) pass.of_queries(of_queries);
  if (for_kv) pass.of_keys(to);
  return to;
}

}  // namespace tapestry
