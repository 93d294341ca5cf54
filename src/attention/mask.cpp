#include "tapestry/mask.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attention/mask_rule.hpp"
#include "tapestry/error.hpp"
#include "tensor/raw.hpp"

namespace tapestry {

bool MaskBits::allows(Index batch, Index query, Index key) const {
  if (std::min(query, key) < 0 || query >= queries || key >= keys ||
      (batches > 1 && (batch < 0 || batch >= batches))) {
    throw Error("mask: batch element " + std::to_string(batch) + ", query " +
                std::to_string(query) + ", key " + std::to_string(key) + " is not in the matrix.");
  }
  return (who(batch, query, key) & 1) != 0;
}

// The rule of one head, or of one sequence.
const Mask::Rule* Mask::Rule::one_of(Index batch, Index head) const {
  const Index place = kind == Kind::heads ? head : batch;
  if (place < 0 || place >= static_cast<Index>(each.size())) {
    throw Error("mask: " + std::string(kind == Kind::heads ? "head " : "batch element ") +
                std::to_string(place) + " of a mask for " + std::to_string(each.size()) +
                " does not exist.");
  }
  return each[static_cast<std::size_t>(place)].get();
}

bool Mask::Rule::allows(Index batch, Index query, Index key, Index head) const {
  const Index position = offset + query;
  switch (kind) {
    case Kind::causal:
      return key <= position;
    case Kind::local:
      return std::abs(position - key) <= number;
    case Kind::strided:
      return std::abs(position - key) % number == 0;
    case Kind::blocked:
      return position / number == key / number;
    case Kind::global:
      return position < number || key < number;
    case Kind::padding:
      if (batch < 0 || batch >= batches()) {
        throw Error("mask: batch element " + std::to_string(batch) + " of a mask for " +
                    std::to_string(batches()) + " sequences does not exist.");
      }
      return key < lengths[static_cast<std::size_t>(batch)];
    case Kind::matrix:
      return matrix.allows(batch, query, key);
    case Kind::part:
      return left->allows(batch, area.query + query, area.key + key, head);
    case Kind::both:
      return left->allows(batch, query, key, head) && right->allows(batch, query, key, head);
    case Kind::either:
      return left->allows(batch, query, key, head) || right->allows(batch, query, key, head);
    case Kind::heads:
    case Kind::sequences: {
      const Rule* const rule = one_of(batch, head);
      return rule == nullptr || rule->allows(batch, query, key, head);
    }
  }
  return false;
}

Index Mask::Rule::batches() const {
  if (kind == Kind::padding) return static_cast<Index>(lengths.size());
  if (kind == Kind::matrix) return matrix.batches == 1 ? 0 : matrix.batches;
  if (kind == Kind::part) return left->batches();
  if (kind == Kind::sequences) return static_cast<Index>(each.size());
  Index most = left == nullptr ? 0 : std::max(left->batches(), right->batches());
  for (const auto& rule : each) most = std::max(most, rule == nullptr ? 0 : rule->batches());
  return most;
}

Index Mask::Rule::heads() const {
  if (kind == Kind::part) return left->heads();
  if (kind == Kind::heads) return static_cast<Index>(each.size());
  Index most = left == nullptr ? 0 : std::max(left->heads(), right->heads());
  for (const auto& rule : each) most = std::max(most, rule == nullptr ? 0 : rule->heads());
  return most;
}

void Mask::Rule::check_fits(Index batch, Index queries, Index keys, Index head_count) const {
  if (kind == Kind::part) {
    if (queries != area.queries || keys != area.keys) {
      throw Error("mask: the part is for " + std::to_string(area.queries) + " queries and " +
                  std::to_string(area.keys) + " keys, but the scores have " +
                  std::to_string(queries) + " and " + std::to_string(keys) + ".");
    }
  } else if (left != nullptr) {
    left->check_fits(batch, queries, keys, head_count);
    right->check_fits(batch, queries, keys, head_count);
  }
  for (const auto& rule : each) {
    if (rule != nullptr) rule->check_fits(batch, queries, keys, head_count);
  }
  if (heads() != 0 && heads() != head_count) {
    throw Error("mask: it is for " + std::to_string(heads()) + " heads, but the scores have " +
                std::to_string(head_count) + "; they must be (batch, heads, queries, keys).");
  }
  if (batches() != 0 && batches() != batch) {
    throw Error("mask: it is for " + std::to_string(batches()) +
                " sequences, but the scores' first axis has " + std::to_string(batch) + ".");
  }
  for (const Index length : lengths) {
    if (length > keys) {
      throw Error("mask: padding says that a sequence has " + std::to_string(length) +
                  " keys, but there are only " + std::to_string(keys) + ".");
    }
  }
  if (kind == Kind::matrix && (matrix.queries != queries || matrix.keys != keys)) {
    throw Error("mask: the matrix is for " + std::to_string(matrix.queries) + " queries and " +
                std::to_string(matrix.keys) + " keys, but the scores have " +
                std::to_string(queries) + " and " + std::to_string(keys) + ".");
  }
}

namespace {

// Sums of a few offsets, windows and positions below this do not overflow.
constexpr Index most = Index{1} << 60;
constexpr Index widest = 2 * most;  // a window, stride or block that no two positions exceed

}  // namespace

Mask::Mask(Rule rule) : rule_(std::make_shared<const Rule>(std::move(rule))) {
  const Rule::Kind kind = rule_->kind;
  const bool goes_back =
      kind == Rule::Kind::causal || kind == Rule::Kind::local || kind == Rule::Kind::strided;
  if (rule_->offset < (goes_back ? -most : 0) || rule_->offset > most) {
    throw Error("mask: the offset is " + std::to_string(rule_->offset) +
                (goes_back ? ", but must be within -2^60 and 2^60."
                           : ", but counts cached keys: it cannot be negative, nor above 2^60."));
  }
}

Mask Mask::causal(Index offset) { return Mask(Rule{.kind = Rule::Kind::causal, .offset = offset}); }

Mask Mask::local(Index window, Index offset) {
  if (window < 0) throw Error("mask: a window of " + std::to_string(window) + " is negative.");
  return Mask(Rule{Rule::Kind::local, std::min(window, widest), offset});
}

Mask Mask::strided(Index stride, Index offset) {
  if (stride < 1)
    throw Error("mask: a stride of " + std::to_string(stride) + " must be at least 1.");
  return Mask(Rule{Rule::Kind::strided, std::min(stride, widest), offset});
}

Mask Mask::blocked(Index size, Index offset) {
  if (size < 1) throw Error("mask: a block of " + std::to_string(size) + " must be at least 1.");
  return Mask(Rule{Rule::Kind::blocked, std::min(size, widest), offset});
}

Mask Mask::global(Index count, Index offset) {
  if (count < 0) {
    throw Error("mask: " + std::to_string(count) +
                " global positions: the count cannot be negative.");
  }
  return Mask(Rule{Rule::Kind::global, count, offset});
}

Mask Mask::padding(std::vector<Index> lengths) {
  if (lengths.empty()) throw Error("mask: padding needs the length of at least one sequence.");
  for (const Index length : lengths) {
    if (length < 0)
      throw Error("mask: a padding length of " + std::to_string(length) + " is negative.");
  }
  Rule rule{Rule::Kind::padding};
  rule.lengths = std::move(lengths);
  return Mask(std::move(rule));
}

bool Mask::Rule::has(Index queries, Index keys) const {
  if (kind == Kind::matrix) return queries <= matrix.queries && keys <= matrix.keys;
  if (kind == Kind::part) return queries <= area.queries && keys <= area.keys;
  for (const auto& rule : each) {
    if (rule != nullptr && !rule->has(queries, keys)) return false;
  }
  return left == nullptr || (left->has(queries, keys) && right->has(queries, keys));
}

Mask Mask::of_each(bool heads, const std::vector<Mask>& masks) {
  if (masks.empty()) {
    throw Error("mask: a list for " + std::string(heads ? "heads" : "sequences") + " is empty.");
  }
  Rule rule{heads ? Rule::Kind::heads : Rule::Kind::sequences};
  for (const Mask& mask : masks) rule.each.push_back(mask.rule_);
  return Mask(std::move(rule));
}

Mask Mask::per_head(const std::vector<Mask>& masks) { return of_each(true, masks); }
Mask Mask::per_sequence(const std::vector<Mask>& masks) { return of_each(false, masks); }

Mask Mask::part(Index query, Index queries, Index key, Index keys) const {
  if (rule_ == nullptr) return Mask();
  const bool sound =
      std::min({query, queries, key, keys}) >= 0 && std::max({query, queries, key, keys}) <= most;
  if (!sound || !rule_->has(query + queries, key + keys)) {
    throw Error("mask: the part of " + std::to_string(queries) + " queries from " +
                std::to_string(query) + " on and " + std::to_string(keys) + " keys from " +
                std::to_string(key) + " on does not lie within the mask.");
  }
  const MaskBlock area{.query = query, .queries = queries, .key = key, .keys = keys};
  return Mask(Rule{.kind = Rule::Kind::part, .left = rule_, .area = area});
}

Mask operator&(const Mask& a, const Mask& b) {
  if (a.allows_everything()) return b;
  if (b.allows_everything()) return a;
  return Mask(Mask::Rule{.kind = Mask::Rule::Kind::both, .left = a.rule_, .right = b.rule_});
}

Mask operator|(const Mask& a, const Mask& b) {
  if (a.allows_everything() || b.allows_everything()) return Mask();
  return Mask(Mask::Rule{.kind = Mask::Rule::Kind::either, .left = a.rule_, .right = b.rule_});
}

bool Mask::allows(Index batch, Index query, Index key, Index head) const {
  return rule_ == nullptr || rule_->allows(batch, query, key, head);
}

namespace {

// One matrix (queries, keys) of 1 and 0, block by block.
void write(const Mask& mask, Index batch, Index head, Index queries, Index keys, real* out) {
  constexpr Index side = visibility_block;
  std::uint64_t keep[side];
  for (Index i = 0; i < queries; i += side) {
    const Index rows = std::min(side, queries - i);
    for (Index j = 0; j < keys; j += side) {
      const Index columns = std::min(side, keys - j);
      const BlockVisibility visible = mask.visible_in_block(batch, i, rows, j, columns, keep, head);
      for (Index c = 0; c < columns; ++c) {
        const std::uint64_t word = c < visible.clear  ? ~std::uint64_t{0}
                                   : c < visible.keys ? keep[c]
                                                      : 0;
        for (Index r = 0; r < rows; ++r) {
          out[(i + r) * keys + j + c] = static_cast<real>(word >> r & 1);
        }
      }
    }
  }
}

}  // namespace

Tensor Mask::tensor(const Shape& scores) const {
  if (scores.ndim() < 2) {
    throw Error("mask: scores are " + to_string(scores) + ", but must be (..., queries, keys).");
  }
  const Index queries = scores[-2], keys = scores[-1];
  const Shape leading = scores.removed(-1).removed(-1);
  const Index batch = leading.ndim() == 0 ? 1 : leading[0];
  const Index head_count = leading.ndim() == 0 ? 1 : leading.removed(0).numel();
  check_fits(batch, queries, keys, head_count);
  const Index batches = rule_ == nullptr ? 0 : rule_->batches();
  const Index heads = rule_ == nullptr ? 0 : rule_->heads();
  Shape shape{queries, keys};
  if (batches != 0 || heads != 0) {
    shape = scores;
    for (int axis = 0; axis < leading.ndim(); ++axis) {
      const bool same = axis == 0 ? batches == 0 : heads == 0;
      if (same) shape = shape.with(axis, 1);
    }
  }
  Tensor result = Tensor::empty(shape);  // (queries, keys) or (batch or 1, heads or 1, ...)
  real* out = raw(result);
  for (Index b = 0; b < std::max<Index>(batches, 1); ++b) {
    for (Index h = 0; h < std::max<Index>(heads, 1); ++h, out += queries * keys) {
      write(*this, b, h, queries, keys, out);
    }
  }
  return result;
}

std::string Mask::text(Index queries, Index keys, Index batch, Index head) const {
  std::string text;
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      text += j > 0 ? " " : "";
      text += allows(batch, i, j, head) ? "✓" : "✗";
    }
    text += '\n';
  }
  return text;
}

}  // namespace tapestry
