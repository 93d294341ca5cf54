// A transformer: ids in, logits over the vocabulary out. Its options also describe the models that
// others trained (models/architecture.hpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/norm.hpp"
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
  std::optional<bool> attention_output_bias = {};  // if the output map is not like the other three
  Index d_k = 0;                                   // width of a head; 0 means d_model / num_heads
  Index num_key_value_heads = 0;  // which query heads share evenly; 0 means num_heads
  ScoreOptions scores = {};       // scale and softcap of attention's scores, as in attention()
  bool scale_by_layer = false;    // the scores of layer i, counted from 1, are divided by i
  // One for each layer: how many positions before and including itself a position sees (in an
  // encoder: and after). 0 means all; an empty list means 0 for each.
  std::vector<Index> windows = {};
  Positions positions = Positions::learned;
  RotaryOptions rotary = {};       // only if positions are rotary
  bool parallel_residual = false;  // x + attention(norm(x)) + feed_forward(norm'(x)) (GPT-NeoX)
  NormPlace norm_place = NormPlace::pre;
  NormKind norm_kind = NormKind::layer;  // rms: as in Llama
  double norm_eps = 1e-5;
  Activation activation = Activation::gelu;
  bool gated = false;  // a feed-forward with a gate: down(activation(gate(x)) * up(x))
  bool feed_forward_bias = true;
  Index num_token_types = 0;    // of which a learned vector is added to each word (BERT); 0: none
  bool embedding_norm = false;  // a norm of the embedding, as in BERT
  bool has_logits = true;       // false: the result is that of the last block, or norm
  bool tied_logits = false;     // the map to logits is the transposed token_embedding
  bool logits_bias = false;
  bool logits_transform = false;  // norm(activation(x W + b)) before that map, as in BERT
  double dropout = 0;             // of embeddings, weights and sublayer outputs, while training
  Initializer initializer = init::normal;
};

// Whose logits Transformer::next() computes.
enum class NextOf { all, last };

// logits = norm(block_n(... block_1(token_embedding[ids] + position_embedding))) W_lm_head. With
// NormPlace::post there is no last norm. (Radford et al. 2019, with separate W_lm_head unless
// tied.)
struct Transformer : Module {
  TransformerOptions options;
  Embedding token_embedding;                      // (vocab_size, d_model)
  std::optional<Embedding> position_embedding;    // (max_length, d_model), if learned
  Tensor sinusoids;                               // (max_length, d_model), if sinusoidal
  std::optional<Embedding> token_type_embedding;  // (num_token_types, d_model)
  std::optional<NormLayer> embedding_norm;
  std::vector<TransformerBlock> blocks;
  std::optional<NormLayer> norm;           // if pre
  std::optional<Linear> logits_transform;  // (d_model, d_model)
  std::optional<NormLayer> logits_norm;    // after logits_transform
  Linear lm_head;  // (d_model, vocab_size); its weight is undefined if tied, or without logits

  // Throws Error for a size below 1, windows that are not as many as layers, options of logits
  // without has_logits, and as the layers do.
  Transformer(const TransformerOptions& options, Random& random);

  // ids (length) or (batch, length) -> logits (..., length, vocab_size). A position sees what
  // `mask` allows and, in a decoder, nothing later. While training, dropout applies.
  // Records for Capture: "embedding" (the sum of the embeddings, normalised if so
  // wanted), the tensors of block i as "blocks.i.*", "norm", "logits_transform" (if there are such
  // layers) and "logits".
  // Throws Error for an id without a word, more positions than learned, a mask that does not fit,
  // token types that do not fit, or a cache: next() takes one for each block.
  Tensor operator()(const Indices& ids, const Mask& mask = {},
                    const ForwardContext& pass = {}) const;

  // Incremental decoding: ids (batch, new) follow those in the caches, one per block (initially an
  // empty list); returns the logits of the new ids, or of the last of them, (batch, 1, vocab_size).
  // They equal the rows of operator() on the whole sequence, to rounding (tested at every
  // position). One id of one text is computed without the layers: a Capture then has "logits" only,
  // unless pass.need_weights asks for what layers record. Throws Error as above, for an encoder,
  // for a model without logits, and for caches that are not of this model; the caches are then
  // unchanged.
  Tensor next(const Indices& ids, std::vector<KeyValueCache>& caches, NextOf which = NextOf::all,
              const ForwardContext& pass = {}) const;

  // The blocks from number `first` on, and what follows the last. x (..., length, d_model) is the
  // input of that block, "embedding" for 0 and "blocks.i.output" for i + 1 -> logits as above. With
  // it an analysis that changes something in block i need not run those before it again. Records
  // what it computes. first may be the number of blocks: read_out alone. Throws Error beyond that,
  // and as above.
  Tensor from_block(Index first, const Tensor& x, const Mask& mask = {},
                    const ForwardContext& pass = {}) const;

  // What follows the last block: x (..., length, d_model) -> logits (..., length, vocab_size), or
  // normalised x if there are none. Records as above.
  Tensor read_out(const Tensor& x) const;

  Members members() const override;

 private:
  Tensor run(const Indices& ids, const Mask& mask, const ForwardContext& pass,
             std::vector<KeyValueCache>* caches, NextOf which) const;
  Tensor run_blocks(Index first, const Tensor& x, const Mask& mask, ForwardContext pass,
                    std::vector<KeyValueCache>* caches) const;
  Tensor embed(const Indices& ids, const Indices* types, Index first) const;
  Tensor with_positions(const Tensor& x, Index first) const;
  Tensor with_types(const Tensor& x, const Indices& ids, const Indices* types) const;
};

// Converts options to text, for the metadata of a checkpoint ("transformer.d_model" -> "64"), and
// back. Throws Error naming a missing or invalid entry; `initializer` is not kept. Options that
// came after the first files were written ("transformer.norm_kind" and others) have an entry only
// if they are not the default. A file may have entries of what its model lacks, d_ff without a
// feed-forward say, which a Transformer would refuse: these options are then the default.
[[nodiscard]] std::map<std::string, std::string> to_metadata(const TransformerOptions& options);
[[nodiscard]] TransformerOptions transformer_options(
    const std::map<std::string, std::string>& metadata);

}  // namespace tapestry
