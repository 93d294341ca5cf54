// What a mask is made of: a tree of rules. Shared by the files that implement Mask.
#pragma once

#include "tapestry/mask.hpp"

namespace tapestry {

// A part of the scores: queries [query, query + queries), keys [key, key + keys).
struct MaskBlock {
  Index batch, query, queries, key, keys;
};

struct Mask::Rule {
  enum class Kind { causal, local, strided, blocked, global, padding, matrix, part, both, either };
  Kind kind;
  Index number = 0;  // window, stride, size of a block, or how many positions are global
  Index offset = 0;
  std::vector<Index> lengths = {};  // padding
  Tensor matrix = {};               // 1 = may attend; (batch or 1, queries, keys)
  std::shared_ptr<const Rule> left = nullptr, right = nullptr;
  MaskBlock area = {};  // part: where of left it lies

  bool allows(Index batch, Index query, Index key) const;
  Sight look(const MaskBlock& block, std::uint64_t* keep) const;
  Sight extent(const MaskBlock& block) const;
  void fill(const MaskBlock& block, Index first, Index last, std::uint64_t* keep) const;
  void fill_from_matrix(const MaskBlock& block, Index first, Index last, std::uint64_t* keep) const;
  MaskBlock within_left(const MaskBlock& block) const;
  Index batches() const;  // 0: the same for every batch element
  void check_fits(Index batch, Index queries, Index keys) const;
  bool has(Index queries, Index keys) const;  // what its matrices are large enough for
};

}  // namespace tapestry
