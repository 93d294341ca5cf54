// What a model would say if it stopped after each block: the logit lens (nostalgebraist 2020), and
// the same through an affine map fitted for each block (the tuned lens; Belrose et al. 2023).
//
// Both apply the last norm anew to each layer's residual stream, with that row's own mean and size.
// (Attribution differs: it holds the scale of the last norm, that parts may add up.) They take the
// model as it is, not folded (folding.hpp); folding changes nothing in what they show.
//
//   const Tensor said = logit_lens(model, ids);  // (layers + 1, length, vocab_size)
//   const AffineLens lens = fit_lens(model, texts);
//   lens.explained[3];                           // of other texts, before block 3
//   affine_lens(model, lens, ids);
#pragma once

#include <span>
#include <vector>

#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The residual stream of one text after the embedding and after each block: ids (length) or (1,
// length) -> (layers + 1, length, d_model). In a model with NormPlace::post it is the output of a
// block as it stands, normalised. For the lens of a few positions, slice it and call
// model.read_out. Throws Error for several texts, an empty one, a model without logits, if another
// Capture is active, and as the model does.
[[nodiscard]] Tensor residual_streams(const Transformer& model, const Indices& ids);

// model.read_out of these: the logits after the embedding, and after each block -> (layers + 1,
// length, vocab_size). The last are the model's own. Throws Error as above.
[[nodiscard]] Tensor logit_lens(const Transformer& model, const Indices& ids);

// For the embedding, and each block but the last: residual stream there -> after the last block.
struct AffineLens {
  std::vector<Tensor> maps = {};    // (d_model, d_model) each: x -> x map + bias
  std::vector<Tensor> biases = {};  // (d_model) each
  // What share of the variance after the last block each map explains on texts that it was not
  // fitted on: 1 - the squares missed / the squares around the mean, over positions and columns. 1
  // is all; below 0 the mean alone is better. NaN if nothing varies.
  std::vector<double> explained = {};
  // The baseline: the same share by the residual stream as it stands, which the logit lens reads.
  std::vector<double> unchanged = {};
  Index fitted = 0, held_out = 0;  // positions: fitted on, and measured on
};

// Least squares with a ridge, which pulls each map towards the identity, by `ridge` times the mean
// variance of the residual stream there: with few texts the lens is near the logit lens. Fitted on
// four texts of five; every fifth, and the last, are held out to measure. (The paper trains the
// maps by gradient descent, so that the logits agree; this fits the residual stream, in one step.)
// texts: (length) each, also of different lengths. Positions count alike: in many models the first
// is far larger than the others, and then has most of the variance. Throws Error for less than two
// texts, an empty one, a ridge that is not above 0, and as above.
[[nodiscard]] AffineLens fit_lens(const Transformer& model, std::span<const Indices> texts,
                                  double ridge = 1e-4);

// Shaped like logit_lens: residual stream -> map -> read_out; the last layer has no map. Throws
// Error for a lens that was not fitted to a model of this size, and as above.
[[nodiscard]] Tensor affine_lens(const Transformer& model, const AffineLens& lens,
                                 const Indices& ids);

}  // namespace tapestry
