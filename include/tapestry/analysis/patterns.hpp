// Scores for patterns in attention weights.
//
//   const Tensor weights = seen["blocks.0.attention.weights"];      // (sentences, heads, n, n)
//   pattern_score(Pattern::previous, weights, Mask::causal());      // (sentences, heads)
//   pattern_score(Pattern::previous, uniform_attention(weights.shape(), Mask::causal()),
//                 Mask::causal());                                  // its baseline
//
// weights are (..., queries, keys) with any leading axes: (heads, queries, keys) of a sentence, or
// of many. `mask` is the one that the model used. It may hide more, to leave rows out: a row that
// sees fewer than two keys has no choice and does not count. (A mask that shows nothing to the
// queries of <pad> leaves these out.) All throw Error if weights have fewer than two axes, or the
// mask does not fit them. NaN gives NaN.
#pragma once

#include <array>
#include <string>

#include "tapestry/mask.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// ---- of each row: (..., queries, keys) -> (..., queries)

// - sum_j a_ij ln a_ij, in nats, with 0 ln 0 = 0: 0 when all weight is on one key, ln n when it is
// spread over n keys alike (Shannon 1948). exp of it is the effective number of keys.
// 0 for a row of zeros.
[[nodiscard]] Tensor attention_entropy(const Tensor& weights);

// Entropy / ln(visible keys): 1 for equal weights, 0 for all weight on one key; comparable between
// lengths and masks. 0 where fewer than two keys are visible.
[[nodiscard]] Tensor normalized_entropy(const Tensor& weights, const Mask& mask = {});

// sum_j a_ij |i - j|: the mean distance of a query's keys.
[[nodiscard]] Tensor attention_distance(const Tensor& weights);

// ---- of each head: rows are put together

// 1 for the rows that count, those that see two keys or more, else 0; it broadcasts to
// (..., queries). weights is their shape.
[[nodiscard]] Tensor rows_that_count(const Shape& weights, const Mask& mask = {});

// Mean over the rows that count: by_row (..., queries), rows broadcast to it -> (...). 0 where no
// row counts. Entropy of each head: mean_of_rows(attention_entropy(a), rows_that_count(shape)).
[[nodiscard]] Tensor mean_of_rows(const Tensor& by_row, const Tensor& rows);

// Uniform weights: 1 / n on each of the n keys that a row may see, 0 elsewhere; shape (...,
// queries, keys) as given. The null baseline of every score here.
[[nodiscard]] Tensor uniform_attention(const Shape& weights, const Mask& mask = {});

// Mean weight on one key for each query, over the rows that count and see this key: -> (...), 0 if
// there are none. keys (queries), or (batch, queries) if the first of several leading axes of
// weights is a batch; -1 for no key. For known links, such as from each verb to its subject. Throws
// Error if keys do not fit, or for one out of range.
[[nodiscard]] Tensor weight_on(const Tensor& weights, const Indices& keys, const Mask& mask = {});

// Such keys: i + offset for query i, where there is such a key. weights is their shape.
[[nodiscard]] Indices keys_at(Index offset, const Shape& weights);

// Such keys, too: the one behind the last earlier occurrence of the word at each query, or -1 where
// the word comes for the first time. ids (queries) or (batch, queries) -> the same shape.
[[nodiscard]] Indices induction_keys(const Indices& ids);

// A pattern that weights may follow. Its score is in [0, 1], and 1 if a head follows it fully. From
// self to induction it is weight_on this key of each query i:
enum class Pattern {
  self,          // key i: the diagonal
  previous,      // key i - 1
  next,          // key i + 1
  first,         // key 0: <bos>, often an attention sink (Xiao et al. 2024)
  fixed_offset,  // key i + d, for the d that scores best on average over the sentences that have
                 // it; other than -1, 0 and 1, and visible to half of the rows that count
  induction,     // induction_keys of the words (Olsson et al. 2022)
  uniform,       // the mean normalised entropy
  sparse,        // 1 - (exp(entropy) - 1) / (visible keys - 1), the mean: 1 if on one key
};
inline constexpr std::array<Pattern, 8> all_patterns = {
    Pattern::self,         Pattern::previous,  Pattern::next,    Pattern::first,
    Pattern::fixed_offset, Pattern::induction, Pattern::uniform, Pattern::sparse};

[[nodiscard]] std::string to_string(Pattern pattern);  // "self", "previous word", "first word", ...

// (..., queries, keys) -> (...). induction needs the ids that were read, (keys) or (batch, keys) as
// above; others ignore them. Throws Error for induction without ids, or with ids that do not fit.
[[nodiscard]] Tensor pattern_score(Pattern pattern, const Tensor& weights, const Mask& mask = {},
                                   const Indices& ids = {});

// The d of fixed_offset for each head: weights (..., heads, queries, keys) -> (heads), and () for
// (queries, keys). 0 where no offset is possible: fewer than about four positions.
[[nodiscard]] Tensor best_offset(const Tensor& weights, const Mask& mask = {});

}  // namespace tapestry
