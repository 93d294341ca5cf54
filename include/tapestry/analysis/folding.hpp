// An equal model without weights in its norms, so that what a head reads and writes can be told
// from its maps alone (TransformerLens has the same under this name).
//
// circuit.hpp folds the maps it looks at in this way. The lenses (lens.hpp) take a model as it is.
#pragma once

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// A model with the same logits, to rounding (at most 1e-5 of the largest), in which
// - each norm before a map has gain 1 and bias 0: its gain is multiplied into the rows of the map
//   behind it, its bias goes through that map into the map's bias. Maps get a bias where the norm
//   has one: options say so. The last norm goes into the map to logits (or into logits_transform,
//   and the norm after that into the map to logits), which is then no longer tied.
// - if these norms are layer norms, what is read and written is centred: a layer norm takes the
//   mean over d_model away, so nothing reads it. Maps lose the mean of each column where they read,
//   and of each row where they write, as do the vectors of words, positions and token types.
// What stays as it is: an embedding norm, with the mean of what it writes; sinusoids; the last norm
// of a model without logits. Nothing is shared with the original. Throws Error for
// NormPlace::post: there the residual stream itself passes through the norms.
[[nodiscard]] Transformer folded(const Transformer& model);

}  // namespace tapestry
