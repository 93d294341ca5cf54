// A small transformer: ids in, logits over the vocabulary out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/layer_norm.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/nn/transformer_block.hpp"

namespace tapestry {

// The default sizes are those of the toy model of the lessons.
struct TransformerOptions {
  Index vocab_size = 0;   // number of words; must be given
  Index max_length = 32;  // most positions, if they are learned; the others have no limit
  Index d_model = 64;
  Index num_heads = 4;
  Index num_layers = 2;
  Index d_ff = 0;                // 0 means 4 d_model
  bool has_feed_forward = true;  // false: attention only
  bool is_causal = true;         // true: a decoder, which predicts the next word; false: an encoder
  bool attention_bias = false;
  Positions positions = Positions::learned;
  Norm norm = Norm::pre;
  Activation activation = Activation::gelu;
  double dropout = 0;  // of embeddings, weights and sublayer outputs, while training
  Initializer initializer = init::normal;
};

// logits = norm(block_n(... block_1(token_embedding[ids] + positions))) W_lm_head. With Norm::post
// there is no last norm. (Radford et al. 2019, with separate W_lm_head.)
struct Transformer : Module {
  TransformerOptions options;
  Embedding token_embedding;           // (vocab_size, d_model)
  std::optional<Embedding> positions;  // (max_length, d_model), if learned
  Tensor sinusoids;                    // (max_length, d_model), if sinusoidal
  std::vector<TransformerBlock> blocks;
  std::optional<LayerNorm> norm;  // if pre
  Linear lm_head;                 // (d_model, vocab_size), without bias

  // Throws Error for a size below 1, and as the layers do.
  Transformer(const TransformerOptions& options, Random& random);

  // ids (length) or (batch, length) -> logits (..., length, vocab_size). A position sees what
  // `mask` allows and, in a decoder, nothing later. While training, dropout applies.
  // Records for Capture: "embedding" (token_embedding + positions), the tensors of block i as
  // "blocks.i.*", "norm" (if there is one) and "logits".
  // Throws Error for an id without a word, more positions than learned, a mask that does not fit,
  // or a cache: next() takes one for each block.
  Tensor operator()(const Indices& ids, const Mask& mask = {},
                    const ForwardContext& pass = {}) const;

  // Incremental decoding: ids (batch, new) follow those in the caches, one per block (initially an
  // empty list); returns the logits of the new ids. They equal the rows of operator() on the whole
  // sequence, to rounding (tested at every position). Throws
  // Error as above, for an encoder, and for caches that are not of this model; the caches are then
  // unchanged.
  Tensor next(const Indices& ids, std::vector<KeyValueCache>& caches) const;

  Members members() const override {
    return {{"words", token_embedding},
            {"positions", positions},
            {"blocks", blocks},
            {"norm", norm},
            {"logits", lm_head}};
  }

 private:
  Tensor run(const Indices& ids, const Mask& mask, ForwardContext pass,
             std::vector<KeyValueCache>* caches) const;
  Tensor embed(const Indices& ids, Index first) const;
};

// Converts options to text, for the metadata of a checkpoint ("transformer.d_model" -> "64"), and
// back. Throws Error naming a missing or invalid entry; `initializer` is not kept.
std::map<std::string, std::string> to_metadata(const TransformerOptions& options);
TransformerOptions transformer_options(const std::map<std::string, std::string>& metadata);

}  // namespace tapestry
