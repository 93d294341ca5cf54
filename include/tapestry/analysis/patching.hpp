// Activation patching: what has to be as in another text for the answer to be as there.
//
//   // clean:     Anna gave Bert a book . Anna gave -> Bert
//   // corrupted: Anna gave Carl a book . Anna gave -> Carl
//   const Patches patches = patch(model, clean, corrupted, {.token = bert, .against = carl});
//   patches.residual.at({3, 2});  // the input of block 3 at position 2 as in the clean text
//
// While the model reads the corrupted text, one place is set to what it was in the clean one. The
// effect is (patched - corrupted) / (clean - corrupted), of answers: 1 where the clean answer is
// back, 0 where nothing changes; it may lie outside. (Vig et al. 2020; Meng et al. 2022; Wang et
// al. 2022.) As a control, patch from an unrelated text: a place that brings the same answer back
// from there holds no more than that it was disturbed.
#pragma once

#include "tapestry/analysis/question.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct Patches {
  double clean = 0, corrupted = 0;  // the answers to both texts
  // Effects of the input of block i at each position, and last of what the last block gives:
  // (layers + 1, length).
  Tensor residual = {};
  // Effects of a head's output, at all positions together: (layers, heads).
  Tensor heads = {};
};

// Whether two answers are far enough apart for shares of the way between them:
// |clean - corrupted| >= 1e-4 max(1, |clean|).
[[nodiscard]] bool have_gap(double clean, double corrupted);

// All functions: ids (length) or (1, length); token types are 0. In a decoder, positions before the
// first token that differs, and those behind the one that is asked about, have an effect of 0
// without being tried. They throw Error for several texts, texts of different lengths, answers that
// have no gap (have_gap), a position or a token that is
// not there, a model without logits, and while a Capture is active.
[[nodiscard]] Patches patch(const Transformer& model, const Indices& clean,
                            const Indices& corrupted, const Question& question);

// The effects of each head of one layer at each position alone: (heads, length). Throws Error, too,
// for a layer that is not there.
[[nodiscard]] Tensor patch_heads(const Transformer& model, const Indices& clean,
                                 const Indices& corrupted, const Question& question, Index layer);

// The effects of the weight of each link of one layer, while the others of its row stay as they
// are: (heads, queries, keys). A reading for each link whose weight differs: on a text of 64 tokens
// some 2,000 for each head. In the last layer only the query that is asked about can matter.
// Throws Error as patch_heads.
[[nodiscard]] Tensor patch_links(const Transformer& model, const Indices& clean,
                                 const Indices& corrupted, const Question& question, Index layer);

}  // namespace tapestry
