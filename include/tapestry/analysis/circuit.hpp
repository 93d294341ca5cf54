// What a head does by its weights alone: which words it looks at (its QK circuit), what attending
// to a word adds to the logits (its OV circuit), and how it builds on heads before it (Elhage et
// al. 2021, "A Mathematical Framework for Transformer Circuits").
//
//   const Circuit one = circuit(model, 1, 0);
//   token_scores(model, one, ids);                         // (ids, ids): queries, keys
//   token_scores(model, one, ids, circuit(model, 0, 0));   // keys as head 0 of layer 0 writes
//   most_boosted(model, one, vocabulary.id("cat"), 5);
//   compositions(model, 1, 0);                             // beside random matrices
//
// The maps are folded as in folding.hpp: what the norms before and after them would multiply is in
// them. A table shows the direct path, from the embedding of a word to the logits: what
// feed-forward layers and other heads make of the word on the way is not in it, nor are learned or
// sinusoidal positions. All functions take any pre-norm model, with grouped heads, RMS norms and
// biases, and throw Error for NormPlace::post, where none of this is defined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The folded maps of one head: copies. What they read is normalised by norms without weights.
struct Circuit {
  Index layer = 0, head = 0;
  Tensor query = {}, key = {}, value = {};  // (d_model, d_k); the latter two of the head's group
  Tensor query_bias = {}, key_bias = {}, value_bias = {};  // (d_k), or undefined
  Tensor output = {};        // (d_k, d_model); its bias is the whole layer's, and not here
  ScoreOptions scores = {};  // scale and softcap
};

// Throws Error for a layer or a head that is not there.
[[nodiscard]] Circuit circuit(const Transformer& model, Index layer, Index head);

// QK as a table: the score of the word tokens[i] as a query and tokens[j] as a key, scaled, biases
// included, softcap applied -> (tokens, tokens). Words are their embeddings alone (with token type
// 0 and the embedding's norm, if there are such), normalised. Rotary positions are those of
// distance 0, where they cancel; relative ones and ALiBi add nothing.
//
// With `keys_from`, an earlier head, keys are what that head writes when it attends to the word,
// normalised anew: how this head finds words by what the other has left there (K-composition; an
// induction head by a previous-token head). A head that writes next to nothing has such a table,
// too: compositions() tell how much is read. Throws Error for tokens that are not (count), an id
// without a word, and a keys_from that is not of an earlier layer.
[[nodiscard]] Tensor token_scores(const Transformer& model, const Circuit& head,
                                  const Indices& tokens,
                                  const std::optional<Circuit>& keys_from = {});

// OV as a table: what attending wholly to the word tokens[i] adds to each logit -> (tokens,
// vocab_size), less the mean of the row, which softmax does not see. The bias of the values is in
// it. The scale of the last norm, which weights do not tell, is taken as 1: divide by the size of
// the row that it normalises (its deviation, or root mean square) for logits of a text. Throws
// Error as above, for a model without logits, and for one with logits_transform, whose activation
// comes between.
[[nodiscard]] Tensor token_logits(const Transformer& model, const Circuit& head,
                                  const Indices& tokens);

// The columns of token_logits for the same tokens -> (tokens, tokens).
[[nodiscard]] Tensor token_logit_table(const Transformer& model, const Circuit& head,
                                       const Indices& tokens);

// The words of the whole vocabulary that attending to `source` raises most, best first.
struct BoostedToken {
  std::int32_t token = 0;
  double logit = 0;  // as in token_logits
};
[[nodiscard]] std::vector<BoostedToken> most_boosted(const Transformer& model, const Circuit& head,
                                                     std::int32_t source, Index count);

// left diag(values) right^T, values descending, `rank` of them: at most d_k. The columns of left
// and right are directions of the residual stream.
struct SingularValues {
  Tensor left = {};    // (d_model, rank): of queries; of what OV reads
  Tensor values = {};  // (rank)
  Tensor right = {};   // (d_model, rank): of keys; of what OV writes
};

// Of W_QK = W_Q W_K^T and of W_OV = W_V W_O (x W_OV is written when a row x is read), without the
// scale of scores and without biases. Computed in double from matrices of d_k by d_k.
[[nodiscard]] SingularValues query_key_singular_values(const Circuit& head);
[[nodiscard]] SingularValues output_value_singular_values(const Circuit& head);

// How much of what an earlier head writes this head reads, in Frobenius norms: |A B| / (|A| |B|), A
// the W_OV of the earlier head, B what reads it: W_QK by its queries, by its keys, or W_OV. From 0
// to 1. Rotary positions are those of distance 0. The numbers mean something beside the baseline
// only.
struct Composition {
  Index layer = 0, head = 0;  // the earlier one
  double query = 0, key = 0, value = 0;
};

struct Compositions {
  std::vector<Composition> heads = {};      // all of earlier layers; none in layer 0
  Spread query = {}, key = {}, value = {};  // of normally distributed matrices of the same shapes
};

// Throws Error as circuit() does, and for fewer than two draws.
[[nodiscard]] Compositions compositions(const Transformer& model, Index layer, Index head,
                                        std::uint64_t seed = 1, Index draws = 20);

}  // namespace tapestry
