// One more position of one sequence, as Transformer::next() needs it for each new word: the same
// arithmetic without a tensor for every result in between. A small model would otherwise spend most
// of its time in making them.
#pragma once

#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// Sizes of an attention layer.
struct Heads {
  Index count, groups, key_width, value_width;

  explicit Heads(const MultiHeadAttention& a)
      : count(a.num_heads),
        groups(a.num_key_value_heads),
        key_width(a.query.weight.size(1) / a.num_heads),
        value_width(a.output.weight.size(0) / a.num_heads) {}
};

// Whether decode() can do it: one id, nothing that a tape has to see or that the pass asks of the
// layers, no scores that depend on distances or have a cap, and all shapes as they were made. If
// not, the layers do it, and refuse what has to be refused. `caches` are one for each block,
// equally long.
bool can_decode(const Transformer& model, const Indices& ids,
                const std::vector<KeyValueCache>& caches, const ForwardContext& pass);

// The logits of that id, (1, 1, vocab_size); its keys and values are added to the caches.
Tensor decode(const Transformer& model, std::int32_t id, std::vector<KeyValueCache>& caches);

}  // namespace tapestry
