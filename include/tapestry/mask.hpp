// Attention masks. One type, one meaning: true = the query may attend to the key.
//
//   Mask mask = Mask::causal() & Mask::padding({6, 4});
//   mask.allows(1, 3, 2);        // in sequence 1, may query 3 attend to key 2?
//   std::cout << mask.text(6, 6);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tapestry/tensor.hpp"
#include "tapestry/visibility.hpp"

namespace tapestry {

// The conventions of other libraries for a mask as a matrix (queries, keys).
enum class MaskEncoding {
  keep,            // 1 (true) = may attend, 0 = may not: boolean
  drop,            // 1 (true) = may NOT attend: boolean, as in PyTorch's MultiheadAttention
  additive,        // 0 = may attend, -inf (or anything below -1e4) = may not: added to the scores
  zero_one,        // 1 = may attend, 0 = may not: numbers, then "scores where 0 become -1e9"
  upper_triangle,  // triu(ones, 1): 1 strictly above the diagonal = may NOT attend
};

class Mask {
 public:
  Mask() = default;  // every query may attend to every key

  // Query i is at position offset + i of the sequence whose keys are 0, 1, 2, ...: with cached keys
  // the offset is their number. Below 0 the first queries stand before every key: causal shows
  // them none, local and strided go by the distance as ever. blocked and global, which count
  // positions from 0, take none below. Throw Error for such an offset, one beyond 2^60 either way,
  // a negative window, or a size below 1.
  [[nodiscard]] static Mask causal(Index offset = 0);  // keys at or before the query
  // keys at most `window` away, either side
  [[nodiscard]] static Mask local(Index window, Index offset = 0);
  // keys a multiple of `stride` away
  [[nodiscard]] static Mask strided(Index stride, Index offset = 0);
  // keys in the query's block of `size`
  [[nodiscard]] static Mask blocked(Index size, Index offset = 0);

  // The first `count` positions see every key, and every query sees them: global attention (Beltagy
  // et al. 2020). local(w) | global(g), or, with attention sinks as in Xiao et al. 2023, (local(w)
  // | global(g)) & causal(). Throws Error as above.
  [[nodiscard]] static Mask global(Index count, Index offset = 0);

  // In batch element b only the first lengths[b] keys are real. Throws Error for an empty list or a
  // negative length.
  [[nodiscard]] static Mask padding(std::vector<Index> lengths);

  // A mask of its own for each head, or for each sequence, of scores (batch, heads, queries, keys):
  // heads are what the axes between the first and the last two count. Throw Error for an empty
  // list.
  [[nodiscard]] static Mask per_head(const std::vector<Mask>& masks);
  [[nodiscard]] static Mask per_sequence(const std::vector<Mask>& masks);

  // From a matrix (queries, keys), or (batch, queries, keys), or (batch, 1 or heads, queries,
  // keys). Throws Error for values that are not of the encoding, naming one and its place.
  [[nodiscard]] static Mask from(MaskEncoding encoding, const Tensor& matrix);

  friend Mask operator&(const Mask& a, const Mask& b);  // allowed by both
  friend Mask operator|(const Mask& a, const Mask& b);  // allowed by either

  [[nodiscard]] bool allows(Index batch, Index query, Index key, Index head = 0) const;

  // The mask of a submatrix of the scores: its query 0 and key 0 are `query` and `key` here, and it
  // fits scores of just these sizes. Throws Error for one outside a matrix or below 0.
  [[nodiscard]] Mask part(Index query, Index queries, Index key, Index keys) const;

  // Visibility of the keys [key, key + keys) of a sequence to its queries [query, query + queries),
  // at most visibility_block of each: the first `clear` keys are visible to all these queries,
  // those from `keys` on to none. For the keys j between, bit i of keep[j] (visibility_block words)
  // says whether query i of the block may attend to it; bits beyond the queries are undefined.
  // Fused attention skips invisible keys. Not checked: call check_fits first.
  BlockVisibility visible_in_block(Index batch, Index query, Index queries, Index key, Index keys,
                                   std::uint64_t* keep, Index head = 0) const;

  // How much of the scores of one batch element is visible: in pairs of a query and a key, and in
  // blocks of visibility_block x visibility_block pairs, of which fused attention skips the fully
  // masked ones. Throws Error if the sizes do not fit.
  struct Density {
    Index pairs, allowed;
    Index blocks, skipped;
  };
  [[nodiscard]] Density density(Index queries, Index keys, Index batch = 0, Index head = 0) const;

  // Throws Error unless the mask suits scores (batch, heads, queries, keys).
  void check_fits(Index batch, Index queries, Index keys, Index heads = 1) const;

  // True for Mask(): nothing is masked, for any lengths.
  [[nodiscard]] bool allows_everything() const { return rule_ == nullptr; }

  // 1 where allowed, 0 where not, in a shape that broadcasts to `scores` (..., queries, keys):
  // (queries, keys), or with axes before these if it depends on the batch element, which is the
  // first axis of scores, or on the head. Throws Error if sizes do not fit.
  [[nodiscard]] Tensor tensor(const Shape& scores) const;

  // Converts to another library's convention. `upper_triangle` throws Error if the mask is not
  // causal without offset, for it can express nothing else.
  [[nodiscard]] Tensor to(MaskEncoding encoding, const Shape& scores) const;

  // Rows are queries, columns are keys: ✓ may attend, ✗ may not.
  [[nodiscard]] std::string text(Index queries, Index keys, Index batch = 0, Index head = 0) const;

 private:
  struct Rule;
  explicit Mask(Rule rule);
  [[nodiscard]] static Mask of_each(bool heads, const std::vector<Mask>& masks);
  std::shared_ptr<const Rule> rule_;  // null: everything
};

[[nodiscard]] Mask operator&(const Mask& a, const Mask& b);
[[nodiscard]] Mask operator|(const Mask& a, const Mask& b);

}  // namespace tapestry
