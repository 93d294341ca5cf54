// Faithfulness of attention maps: other measures of "how much does query i take from key j" to
// compare with the weights, and how far they agree.
//
//   const auto logit = [&] {                                   // of word 7, said at the last place
//     return slice(slice(model(ids), -2, -1, length), -1, 7, 8);
//   };
//   const LinkMaps maps = link_maps(logit, "blocks.0.attention", model.blocks[0].attention);
//   rank_agreement(maps.weights, maps.value_shares, Mask::causal());   // of each head
#pragma once

#include <functional>
#include <string>

#include "tapestry/mask.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Calls the model on one text and returns one number, the one to explain: a logit, for example.
// Where weights are looked at, by a call with {.need_weights = true}.
using Target = std::function<Tensor()>;

// Weight times value: || a_ij v_j W_O^h ||, divided by the sum of its row; zeros stay zeros
// (Kobayashi et al. 2020, equation 4). (A large weight on a small value contributes little.)
// weights (..., heads, queries, keys), values (..., heads, keys, d_v), output_weight (heads d_v,
// d_model) -> shaped like weights. Throws Error if they do not fit.
[[nodiscard]] Tensor value_shares(const Tensor& weights, const Tensor& values,
                                  const Tensor& output_weight);

// The next three use the layer that records "weights" under `layer`, "blocks.0.attention" for
// example, "" for a MultiHeadAttention called by itself. Their numbers are in the units of the
// target, positive for what raises it. They throw Error if nothing is recorded there, if another
// Capture is active, and if the target gives more than one number.

// a_ij times d target / d a_ij: to first order the loss of target without the link, all paths
// through later layers included (gradient times input: Shrikumar et al. 2017, at the weights). One
// backward pass. Shaped like the weights, (..., heads, queries, keys).
[[nodiscard]] Tensor gradient_times_attention(const Target& target, const std::string& layer);

// Target as it is, minus target with the weight of this one link set to 0 (the others of its row
// stay as they are). One call of the model for each nonzero weight. Shaped like the weights;
// leading axes before the heads' must be 1, else Error: one text at a time.
[[nodiscard]] Tensor link_ablation(const Target& target, const std::string& layer);

// Target as it is, minus target with the output of one head set to 0, before W_O (Michel et al.
// 2019): -> (heads). All texts of a batch at once.
[[nodiscard]] Tensor head_ablation(const Target& target, const std::string& layer);

// The four columns to show side by side, each (..., heads, queries, keys).
struct LinkMaps {
  Tensor weights, value_shares, gradient_times_attention, ablation;
};

// `attention` is the layer that records under that name. Throws Error as the functions above.
[[nodiscard]] LinkMaps link_maps(const Target& target, const std::string& layer,
                                 const MultiHeadAttention& attention);

// Spearman's rank correlation (1904) of two maps in each row, over the keys that the mask shows,
// averaged over rows: 1 where both put the keys in the same order, 0 without relation, -1 in
// opposite order. Equal values share their mean rank. Rows with fewer than three keys, or in which
// one map is constant, are left out; NaN if none is left, and where a map has NaN. Maps (...,
// queries, keys) of one shape -> (...). For maps with a sign, maximum(x, -x) ranks by the size of
// the effect. Throws Error if shapes or mask do not fit.
[[nodiscard]] Tensor rank_agreement(const Tensor& a, const Tensor& b, const Mask& mask = {});

// True if rank_agreement is below one half: captions then say that the maps disagree. (Of the 120
// orders of five keys, 27 agree as well as that by chance.) False for NaN.
[[nodiscard]] inline bool maps_disagree(double agreement) { return agreement < 0.5; }

}  // namespace tapestry
