#include "tapestry/nn/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/decoding.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void check_logits(const TransformerOptions& o) {
  const auto refuse_without = [&](bool given, const char* name) {
    if (!given || o.has_logits) return;
    throw Error(std::string("transformer: ") + name +
                " is true, but has_logits is false: leave it out, or keep the logits.");
  };
  refuse_without(o.tied_logits, "tied_logits");
  refuse_without(o.logits_bias, "logits_bias");
  refuse_without(o.logits_transform, "logits_transform");
}

const TransformerOptions& checked(const TransformerOptions& o) {
  const auto at_least = [](Index least, Index size, const char* name) {
    if (size >= least) return;
    throw Error(std::string("transformer: ") + name + " is " + std::to_string(size) +
                ", but must be at least " + std::to_string(least) + ".");
  };
  at_least(1, o.vocab_size, "vocab_size");
  at_least(1, o.max_length, "max_length");
  at_least(0, o.num_layers, "num_layers");
  at_least(0, o.num_token_types, "num_token_types");
  if (!o.windows.empty() && static_cast<Index>(o.windows.size()) != o.num_layers) {
    throw Error("transformer: there are " + std::to_string(o.windows.size()) + " windows for " +
                std::to_string(o.num_layers) + " layers: give one for each, or none.");
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    throw Error("transformer: dropout is " + exact_text(o.dropout) + ", but must be in [0, 1).");
  }
  check_logits(o);
  return o;
}

// The scale and cap of the scores of one layer, counted from 0.
ScoreOptions scores_of(const TransformerOptions& o, Index layer) {
  ScoreOptions scores = o.scores;
  if (o.scale_by_layer && o.num_heads > 0) {
    const Index d_k = o.d_k == 0 ? o.d_model / o.num_heads : o.d_k;
    scores.scale = scores.scale.value_or(1 / std::sqrt(static_cast<double>(d_k))) /
                   static_cast<double>(layer + 1);
  }
  return scores;
}

TransformerBlockOptions block_options(const TransformerOptions& o, Index layer) {
  const bool added = o.positions == Positions::learned || o.positions == Positions::sinusoidal;
  TransformerBlockOptions block;
  block.attention = {.d_k = o.d_k,
                     .d_v = o.d_k,
                     .num_key_value_heads = o.num_key_value_heads,
                     .bias = o.attention_bias,
                     .output_bias = o.attention_output_bias,
                     .is_causal = o.is_causal,
                     .window = o.windows.empty() ? 0 : o.windows[static_cast<std::size_t>(layer)],
                     .dropout = o.dropout,
                     .scores = scores_of(o, layer),
                     .positions = added ? Positions::none : o.positions,
                     .rotary = o.rotary,
                     .initializer = o.initializer};
  const bool only_for_logits = !o.has_feed_forward && o.logits_transform;
  block.feed_forward = {
      .d_ff = o.d_ff,
      .activation = only_for_logits ? FeedForwardOptions().activation : o.activation,
      .bias = o.feed_forward_bias,
      .initializer = o.initializer,
      .gated = o.gated};
  block.has_feed_forward = o.has_feed_forward;
  block.parallel_residual = o.parallel_residual;
  block.norm_place = o.norm_place;
  block.norm_kind = o.norm_kind;
  block.norm_eps = o.norm_eps;
  block.dropout = o.dropout;
  return block;
}

// Without a weight of its own if that is the embedding's, or there are no logits.
Linear map_to_logits(const TransformerOptions& o, Random& random) {
  const Initializer none = [](const Shape&, Random&) { return Tensor(); };
  const bool own = o.has_logits && !o.tied_logits;
  return Linear(o.d_model, o.vocab_size, random, {own ? o.initializer : none, o.logits_bias});
}

void refuse_cache(const ForwardContext& pass) {
  if (pass.cache == nullptr) return;
  throw Error("transformer: each block has a cache of its own: call next() with all of them.");
}

}  // namespace

Transformer::Transformer(const TransformerOptions& o, Random& random)
    : options(checked(o)),
      token_embedding(o.vocab_size, o.d_model, random, o.initializer),
      lm_head(map_to_logits(o, random)) {
  if (o.positions == Positions::learned) {
    position_embedding.emplace(o.max_length, o.d_model, random, o.initializer);
  } else if (o.positions == Positions::sinusoidal) {
    sinusoids = sinusoidal_positions(o.max_length, o.d_model);
  }
  for (Index i = 0; i < o.num_layers; ++i) {
    blocks.emplace_back(o.d_model, o.num_heads, random, block_options(o, i));
  }
  if (o.norm_place == NormPlace::pre) norm.emplace(o.norm_kind, o.d_model, o.norm_eps);
  if (o.num_token_types > 0)
    token_type_embedding.emplace(o.num_token_types, o.d_model, random, o.initializer);
  if (o.embedding_norm) embedding_norm.emplace(o.norm_kind, o.d_model, o.norm_eps);
  if (o.logits_transform) {
    logits_transform.emplace(o.d_model, o.d_model, random, LinearOptions{o.initializer});
    logits_norm.emplace(o.norm_kind, o.d_model, o.norm_eps);
  }
}

Tensor Transformer::embed(const Indices& ids, const Indices* types, Index first) const {
  if (ids.shape.ndim() < 1 || ids.shape.ndim() > 2) {
    throw Error("transformer: ids are " + to_string(ids.shape) +
                ": they must be (length) or (batch, length).");
  }
  // (..., length, d_model)
  const Tensor x = with_types(with_positions(token_embedding(ids), first), ids, types);
  return embedding_norm ? (*embedding_norm)(x) : x;  // (..., length, d_model)
}

Tensor Transformer::with_types(const Tensor& x, const Indices& ids, const Indices* types) const {
  if (!token_type_embedding && types == nullptr) return x;
  if (!token_type_embedding) {
    throw Error(
        "transformer: token types were given, but this model has none. Leave them out, or build it "
        "with num_token_types.");
  }
  if (types == nullptr)
    return x + slice(token_type_embedding->weight, 0, 0, 1);  // (..., length, d_model)
  if (types->shape != ids.shape) {
    throw Error("transformer: token types are " + to_string(types->shape) + ", but ids are " +
                to_string(ids.shape) + ": there must be one for each id.");
  }
  return x + (*token_type_embedding)(*types);  // (..., length, d_model)
}

Tensor Transformer::with_positions(const Tensor& x, Index first) const {
  const Index length = x.size(-2), end = first + length;
  if (!position_embedding && !sinusoids.defined()) return x;  // layers add them, or there are none
  if (sinusoids.defined() && end > options.max_length) {
    return x + sinusoidal_positions(length, options.d_model, first);  // (..., length, d_model)
  }
  if (end > options.max_length) {
    throw Error("transformer: " + std::to_string(end) + " positions, but only " +
                std::to_string(options.max_length) +
                " were learned. Shorten the text, or train with a larger max_length.");
  }
  const Tensor& all =
      sinusoids.defined() ? sinusoids : position_embedding->weight;  // (max_length, d_model)
  return x + slice(all, 0, first, end);                              // (..., length, d_model)
}

Tensor Transformer::run_blocks(Index first, const Tensor& embedded, const Mask& mask,
                               ForwardContext pass, std::vector<KeyValueCache>* caches) const {
  Tensor x = embedded;  // (..., length, d_model)
  for (auto i = static_cast<std::size_t>(first); i < blocks.size(); ++i) {
    const Capture::Name name("blocks", static_cast<Index>(i));
    if (caches != nullptr) pass.cache = &(*caches)[i];
    x = blocks[i](x, mask, pass);  // (..., length, d_model)
  }
  return x;
}

Tensor Transformer::from_block(Index first, const Tensor& x, const Mask& mask,
                               const ForwardContext& pass) const {
  if (first < 0 || first > options.num_layers) {
    throw Error("transformer: from_block was asked for block " + std::to_string(first) +
                ", but there are " + std::to_string(options.num_layers) + ", counted from 0.");
  }
  if (pass.cache != nullptr) throw Error("transformer: from_block takes no cache.");
  return read_out(run_blocks(first, x, mask, pass, nullptr));  // (..., length, vocab_size)
}

Tensor Transformer::run(const Indices& ids, const Mask& mask, const ForwardContext& pass,
                        std::vector<KeyValueCache>* caches, NextOf which) const {
  const Index first = caches == nullptr || caches->empty() ? 0 : caches->front().length();
  const Tensor embedded = embed(ids, pass.token_type_ids, first);  // (..., length, d_model)
  Tensor x = dropout(embedded, options.dropout, pass.random);      // (..., length, d_model)
  x = Capture::record("embedding", x);
  x = run_blocks(0, x, mask, pass, caches);  // (..., length, d_model)
  if (which == NextOf::last) {
    x = slice(x, -2, std::max<Index>(x.size(-2) - 1, 0), x.size(-2));  // (..., 1, d_model)
  }
  return read_out(x);
}

Tensor Transformer::read_out(const Tensor& y) const {
  Tensor x = norm ? Capture::record("norm", (*norm)(y)) : y;  // (..., length, d_model)
  if (!options.has_logits) return x;
  if (logits_transform) {
    x = (*logits_norm)((*logits_transform)(x, options.activation));  // (..., length, d_model)
    x = Capture::record("logits_transform", x);                      // (..., length, d_model)
  }
  const Tensor map = options.tied_logits ? transpose(token_embedding.weight)
                                         : lm_head.weight;         // (d_model, vocab_size)
  return Capture::record("logits", linear(x, map, lm_head.bias));  // (..., length, vocab_size)
}

Tensor Transformer::operator()(const Indices& ids, const Mask& mask,
                               const ForwardContext& pass) const {
  refuse_cache(pass);
  return run(ids, mask, pass, nullptr, NextOf::all);
}

Tensor Transformer::next(const Indices& ids, std::vector<KeyValueCache>& caches, NextOf which,
                         const ForwardContext& pass) const {
  refuse_cache(pass);
  if (!options.is_causal) {
    throw Error(
        "transformer: next() is for a decoder: in an encoder, later words would change the earlier "
        "ones. Call the model on the whole text.");
  }
  if (!options.has_logits) {
    throw Error(
        "transformer: next() is for a model with logits, but this one ends with its last block. "
        "Call it on the whole text.");
  }
  std::vector<KeyValueCache> seen = caches;
  if (seen.empty()) seen.resize(blocks.size());
  bool fit = seen.size() == blocks.size() && !seen.empty();
  for (const KeyValueCache& cache : seen) fit = fit && cache.length() == seen.front().length();
  if (!fit) {
    throw Error("transformer: next() was given " + std::to_string(caches.size()) + " caches for " +
                std::to_string(blocks.size()) +
                " blocks: there must be one for each block, at least one, all equally long. Begin "
                "with an empty list.");
  }
  const Tensor y = can_decode(*this, ids, seen, pass) ? decode(*this, ids.values[0], seen)
                                                      : run(ids, {}, pass, &seen, which);
  caches = std::move(seen);  // only now, when nothing can throw
  return y;                  // (batch, new or 1, vocab_size)
}

Members Transformer::members() const {
  return {{"words", token_embedding},
          {"positions", position_embedding},
          {"token_types", token_type_embedding},
          {"embedding_norm", embedding_norm},
          {"blocks", blocks},
          {"norm", norm},
          {"logits_transform", logits_transform},
          {"logits_norm", logits_norm},
          {"logits", lm_head}};
}

}  // namespace tapestry
