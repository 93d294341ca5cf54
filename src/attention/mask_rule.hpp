// The representation of a mask: a tree of rules. Shared by the files that implement Mask.
#pragma once

#include <algorithm>

#include "tapestry/mask.hpp"

namespace tapestry {

// A part of the scores: queries [query, query + queries), keys [key, key + keys).
struct MaskBlock {
  Index batch = 0, query = 0, queries = 0, key = 0, keys = 0, head = 0;
};

// A matrix of bits, for each key the queries, 64 to a word: so it is read as fast as a rule.
struct MaskBits {
  Index batches = 0, queries = 0, keys = 0;
  std::vector<std::uint64_t> words = {};

  MaskBits() = default;
  MaskBits(Index all_batches, Index all_queries, Index all_keys)
      : batches(all_batches), queries(all_queries), keys(all_keys) {
    words.resize(static_cast<std::size_t>(std::max<Index>(batches, 1) * keys * row()));
  }
  Index row() const { return queries / 64 + 2; }  // words per key: one more than needed
  std::size_t place(Index batch, Index query, Index key) const {
    return static_cast<std::size_t>(((batches <= 1 ? 0 : batch) * keys + key) * row() + query / 64);
  }
  void allow(Index batch, Index query, Index key) {
    words[place(batch, query, key)] |= std::uint64_t{1} << query % 64;
  }
  bool allows(Index batch, Index query, Index key) const;  // throws Error if it is out of range
  // Of the queries [query, query + 64), one bit each; bits beyond the last one are 0.
  std::uint64_t who(Index batch, Index query, Index key) const {
    const std::uint64_t* word = words.data() + place(batch, query, key);
    return query % 64 == 0 ? word[0] : word[0] >> query % 64 | word[1] << (64 - query % 64);
  }
};

struct Mask::Rule {
  enum class Kind {
    causal,
    local,
    strided,
    blocked,
    global,
    padding,
    matrix,
    part,
    both,
    either,
    heads,
    sequences
  };
  Kind kind;
  Index number = 0;  // window, stride, size of a block, or how many positions are global
  Index offset = 0;
  std::vector<Index> lengths = {};  // padding
  MaskBits matrix = {};             // of 1 batch element, for all, or of several
  std::shared_ptr<const Rule> left = nullptr, right = nullptr;
  MaskBlock area = {};                                 // part: its place in left, of any batch
  std::vector<std::shared_ptr<const Rule>> each = {};  // heads, sequences: null allows everything

  bool allows(Index batch, Index query, Index key, Index head) const;
  const Rule* one_of(Index batch, Index head) const;  // heads, sequences
  BlockVisibility visible_in_block(const MaskBlock& block, std::uint64_t* keep) const;
  BlockVisibility extent(const MaskBlock& block) const;
  void fill(const MaskBlock& block, Index first, Index last, std::uint64_t* keep) const;

  std::uint64_t who(const MaskBlock& block, Index key) const;
  MaskBlock within_left(const MaskBlock& block) const;
  Index batches() const;  // 0: the same for every batch element
  Index heads() const;    // 0: the same for every head
  void check_fits(Index batch, Index queries, Index keys, Index heads) const;
  bool has(Index queries, Index keys) const;  // the sizes that its matrices cover
};

}  // namespace tapestry
