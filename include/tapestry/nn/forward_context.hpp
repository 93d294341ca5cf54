// What a forward pass has to know beside its input, handed on from a model to its layers.
//
//   model(ids);                                // to use it
//   model(ids, mask, {.random = &random});     // to train it
//   model(ids, mask, {.need_weights = true});  // to look inside, by a Capture
#pragma once

namespace tapestry {

class Random;
struct Indices;
struct KeyValueCache;

struct ForwardContext {
  Random* random = nullptr;        // given while training: dropout drops, and draws from it
  KeyValueCache* cache = nullptr;  // of one attention layer: x follows what it holds
  // For a Capture: attention stores its scores and weights, and Transformer::next() the rest.
  bool need_weights = false;
  // Of a model with token types: one for each id, in the shape of the ids; without them all are 0.
  const Indices* token_type_ids = nullptr;

  [[nodiscard]] bool training() const { return random != nullptr; }
};

}  // namespace tapestry
