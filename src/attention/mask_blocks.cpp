// Masks block by block, as words of bits for fused attention.
#include <algorithm>
#include <bit>

#include "attention/mask_rule.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

constexpr std::uint64_t everyone = ~std::uint64_t{0};

// Bits [low, high) within [0, visibility_block).
std::uint64_t bits(Index low, Index high) {
  low = std::max<Index>(low, 0);
  high = std::min(high, visibility_block);
  if (low >= high) return 0;
  return (everyone << low) & (everyone >> (visibility_block - high));
}

BlockVisibility joined(bool both, const BlockVisibility& one, const BlockVisibility& other) {
  if (both) return {std::min(one.keys, other.keys), std::min(one.clear, other.clear)};
  return {std::max(one.keys, other.keys), std::max(one.clear, other.clear)};
}

}  // namespace

// Bounds for visible_in_block(), found without a loop over keys.
BlockVisibility Mask::Rule::extent(const MaskBlock& b) const {
  const Index first = offset + b.query, last = first + b.queries - 1;  // positions
  const auto within = [&](Index keys) { return std::clamp<Index>(keys, 0, b.keys); };
  switch (kind) {
    case Kind::causal:
      return {within(last + 1 - b.key), within(first + 1 - b.key)};
    case Kind::padding: {
      const Index real_keys = within(lengths[static_cast<std::size_t>(b.batch)] - b.key);
      return {real_keys, real_keys};
    }
    case Kind::local:
      if (b.key + b.keys <= first - number) return {};
      return {within(last + number + 1 - b.key),
              b.key >= last - number ? within(first + number + 1 - b.key) : 0};
    case Kind::blocked:
      if ((b.key + b.keys - 1) / number < first / number) return {};
      return {within((last / number + 1) * number - b.key), 0};
    case Kind::global:
      return {first < number ? b.keys : within(number - b.key),
              last < number ? b.keys : within(number - b.key)};
    case Kind::part:
      return left->extent(within_left(b));
    case Kind::heads:
    case Kind::sequences: {
      const Rule* const rule = one_of(b.batch, b.head);
      return rule == nullptr ? BlockVisibility{b.keys, b.keys} : rule->extent(b);
    }
    case Kind::both:
    case Kind::either:
      return joined(kind == Kind::both, left->extent(b), right->extent(b));
    default:
      return {b.keys, 0};
  }
}

// A block of a part, in positions of the whole mask.
MaskBlock Mask::Rule::within_left(const MaskBlock& b) const {
  return {b.batch, area.query + b.query, b.queries, area.key + b.key, b.keys, b.head};
}

// Which queries of the block see this key: bit i for its query i.
std::uint64_t Mask::Rule::who(const MaskBlock& b, Index key) const {
  const Index first = offset + b.query;  // position of bit 0
  switch (kind) {
    case Kind::causal:
      return bits(key - first, visibility_block);
    case Kind::local:
      return bits(key - number - first, key + number + 1 - first);
    case Kind::strided: {
      std::uint64_t word = 0;
      const Index step = (key - first) % number;
      for (Index i = step < 0 ? step + number : step; i < b.queries; i += number) {
        word |= std::uint64_t{1} << i;
      }
      return word;
    }
    case Kind::blocked:
      return bits(key / number * number - first, (key / number + 1) * number - first);
    case Kind::global:
      return key < number ? everyone : bits(0, number - first);
    case Kind::padding:
      return key < lengths[static_cast<std::size_t>(b.batch)] ? everyone : 0;
    case Kind::matrix:
      return matrix.who(b.batch, b.query, key);
    default:  // combinations: see fill
      return 0;
  }
}

// keep[j] = who(key j of the block), for j in [begin, end). Bits beyond the block's queries may be
// anything.
void Mask::Rule::fill(const MaskBlock& b, Index begin, Index end, std::uint64_t* keep) const {
  if (kind == Kind::part) return left->fill(within_left(b), begin, end, keep);
  if (!each.empty()) {
    const Rule* const rule = one_of(b.batch, b.head);
    if (rule != nullptr) return rule->fill(b, begin, end, keep);
    return std::fill(keep + begin, keep + end, everyone);
  }
  if (left == nullptr) {
    for (Index j = begin; j < end; ++j) keep[j] = who(b, b.key + j);
    return;
  }
  std::uint64_t other[visibility_block] = {};
  left->fill(b, begin, end, keep);
  right->fill(b, begin, end, other);
  for (Index j = begin; j < end; ++j) {
    keep[j] = kind == Kind::both ? keep[j] & other[j] : keep[j] | other[j];
  }
}

BlockVisibility Mask::Rule::visible_in_block(const MaskBlock& b, std::uint64_t* keep) const {
  BlockVisibility visible = extent(b);
  fill(b, visible.clear, visible.keys, keep);
  const std::uint64_t here = bits(0, b.queries);
  while (visible.keys > visible.clear && (keep[visible.keys - 1] & here) == 0) --visible.keys;
  while (visible.clear < visible.keys && (keep[visible.clear] & here) == here) ++visible.clear;
  return visible;
}

BlockVisibility Mask::visible_in_block(Index batch, Index query, Index queries, Index key,
                                       Index keys, std::uint64_t* keep, Index head) const {
  if (rule_ == nullptr) return {keys, keys};
  return rule_->visible_in_block({batch, query, queries, key, keys, head}, keep);
}

Mask::Density Mask::density(Index queries, Index keys, Index batch, Index head) const {
  const Index batches = rule_ == nullptr ? 0 : rule_->batches();
  const Index heads = rule_ == nullptr ? 0 : rule_->heads();
  check_fits(batches, queries, keys, heads);
  if (batch < 0 || (batches != 0 && batch >= batches)) {
    throw Error("mask: batch element " + std::to_string(batch) + " of a mask for " +
                std::to_string(batches) + " sequences does not exist.");
  }
  if (head < 0 || (heads != 0 && head >= heads)) {
    throw Error("mask: head " + std::to_string(head) + " of a mask for " + std::to_string(heads) +
                " does not exist.");
  }
  Density sum{queries * keys, 0, 0, 0};
  std::uint64_t keep[visibility_block];
  for (Index i = 0; i < queries; i += visibility_block) {
    const Index rows = std::min(visibility_block, queries - i);
    for (Index j = 0; j < keys; j += visibility_block) {
      const BlockVisibility visible =
          visible_in_block(batch, i, rows, j, std::min(visibility_block, keys - j), keep, head);
      sum.allowed += visible.clear * rows;
      for (Index c = visible.clear; c < visible.keys; ++c) {
        sum.allowed += std::popcount(keep[c] & bits(0, rows));
      }
      ++sum.blocks;
      sum.skipped += visible.keys == 0 ? 1 : 0;
    }
  }
  return sum;
}

void Mask::check_fits(Index batch, Index queries, Index keys, Index heads) const {
  if (rule_ != nullptr) rule_->check_fits(batch, queries, keys, heads);
}

}  // namespace tapestry
