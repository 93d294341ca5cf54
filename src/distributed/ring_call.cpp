#include "distributed/ring_call.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/kernels.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

// Strides of (tiles, leading axes...) with matrices of `numbers` numbers.
Strides stacked(const Shape& batch, Index numbers, bool same_tile) {
  Strides strides{};
  for (int axis = batch.ndim(); axis > 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = numbers;
    numbers *= batch[axis - 1];
  }
  strides[0] = same_tile ? 0 : numbers;
  return strides;
}

// The query i of the block, at position q + i, sees the keys at k + j <= q + i, as far as `real`.
BlockVisibility causal_block(Index q, Index queries, Index k, Index real_keys,
                             std::uint64_t* keep) {
  const Index keys = std::clamp<Index>(q + queries - k, 0, real_keys);
  const Index clear = std::clamp<Index>(q + 1 - k, 0, keys);
  for (Index j = clear; j < keys; ++j) keep[j] = ~std::uint64_t{0} << (k + j - q);
  return {keys, clear};
}

BlockVisibility visible(const kernels::AttentionHead& h, Index query, Index queries, Index key,
                        Index keys, std::uint64_t* keep) {
  const PairMask& m = *static_cast<const PairMask*>(h.mask);
  const RingCall& call = *m.call;
  const Index q = call.layout.first(m.query_tiles[h.batch * m.query_step]) + query;
  const Index k = call.layout.first(m.key_tiles[h.batch * m.key_step]) + key;
  const std::vector<Index>& lengths = call.options.lengths;
  Index real_keys = keys;
  if (!lengths.empty()) {
    const Index heads_of_one = call.heads() / static_cast<Index>(lengths.size());
    const Index length = lengths[static_cast<std::size_t>(h.number / heads_of_one)];
    real_keys = std::clamp<Index>(length - k, 0, keys);
  }
  if (call.options.is_causal) return causal_block(q, queries, k, real_keys, keep);
  return {real_keys, real_keys};
}

}  // namespace

Index RingCall::largest_group() const {
  constexpr Index most = 8;
  return std::clamp<Index>(2 * threads_in_use() / std::max<Index>(heads(), 1), 1, most);
}

std::vector<TileGroup> RingCall::groups(Index begin, Index end) const {
  std::vector<TileGroup> all;
  const Index full = layout.length() / layout.tile();  // tiles that are
  for (Index i = begin; i < end;) {
    const Index rows_here = layout.rows(mine[static_cast<std::size_t>(i)]);
    Index count = 1;
    while (count < largest_group() && i + count < end &&
           mine[static_cast<std::size_t>(i + count)] < full) {
      ++count;
    }
    all.push_back({i, count, rows_here});
    i += count;
  }
  return all;
}

std::vector<TileGroup> RingCall::that_see(Index t) const {
  const auto first = std::lower_bound(mine.begin(), mine.end(), t);
  return groups(options.is_causal ? first - mine.begin() : 0, static_cast<Index>(mine.size()));
}

std::vector<TileGroup> RingCall::seen_by(Index t) const {
  const auto end = std::upper_bound(mine.begin(), mine.end(), t);
  return groups(0, (options.is_causal ? end : mine.end()) - mine.begin());
}

void RingCall::pack(const Tensor& x, Index i, Index tile_rows, real* to) const {
  const Shape shape = with_matrix(batch, tile_rows, x.size(-1));
  const Index row = x.strides()[static_cast<std::size_t>(x.ndim()) - 2];
  kernels::copy(sizes(shape), raw(x) + i * layout.tile() * row, x.strides().data(), to,
                row_major(shape).data());
}

Stack own_tiles(const RingCall& call, const TileGroup& g, const Tensor& x) {
  const auto rank = static_cast<std::size_t>(call.batch.ndim());
  const Index row = x.strides()[rank], tile = call.layout.tile() * row;
  Stack stack{raw(x) + g.first * tile, {}, row};
  stack.strides[0] = tile;
  std::copy_n(x.strides().begin(), rank, stack.strides.begin() + 1);
  return stack;
}

Stack one_tile(const RingCall& call, const real* data, Index rows, Index columns) {
  return {data, stacked(call.batch, rows * columns, true), columns};
}

Stack tile_by_tile(const RingCall& call, const real* data, Index rows, Index columns) {
  return {data, stacked(call.batch, rows * columns, false), columns};
}

Stack row_sums(const RingCall& call, const real* data, Index rows, bool same_tile) {
  return {data, stacked(call.batch, rows, same_tile), -1};
}

kernels::AttentionShape shape_of_pairs(const PairMask& mask, Index count, Index queries,
                                       Index keys) {
  const RingCall& call = *mask.call;
  const ScoreOptions& how = call.options.scores;
  kernels::AttentionShape s{};
  s.batch.rank = call.batch.ndim() + 1;
  s.batch.size[0] = count;
  std::copy(call.batch.begin(), call.batch.end(), s.batch.size + 1);
  s.queries = queries;
  s.keys = keys;
  s.width = call.width;
  s.value_width = call.value_width;
  s.scale = static_cast<real>(how.scale.value_or(1 / std::sqrt(static_cast<double>(call.width))));
  s.softcap = static_cast<real>(how.softcap);
  if (!call.options.is_causal && call.options.lengths.empty()) return s;
  s.mask = &mask;
  s.visible_in_block = visible;
  return s;
}

}  // namespace tapestry
