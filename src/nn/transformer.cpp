#include "tapestry/nn/transformer.hpp"

#include <utility>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

const TransformerOptions& checked(const TransformerOptions& o) {
  const auto at_least = [](Index least, Index size, const char* name) {
    if (size >= least) return;
    throw Error(std::string("transformer: ") + name + " is " + std::to_string(size) +
                ", but must be at least " + std::to_string(least) + ".");
  };
  at_least(1, o.vocab_size, "vocab_size");
  at_least(1, o.max_length, "max_length");
  at_least(0, o.num_layers, "num_layers");
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    throw Error("transformer: dropout is " + exact_text(o.dropout) + ", but must be in [0, 1).");
  }
  return o;
}

TransformerBlockOptions block_options(const TransformerOptions& o) {
  const bool added = o.positions == Positions::learned || o.positions == Positions::sinusoidal;
  TransformerBlockOptions block;
  block.attention = {.bias = o.attention_bias,
                     .is_causal = o.is_causal,
                     .dropout = o.dropout,
                     .positions = added ? Positions::none : o.positions,
                     .initializer = o.initializer};
  block.feed_forward = {.d_ff = o.d_ff, .activation = o.activation, .initializer = o.initializer};
  block.has_feed_forward = o.has_feed_forward;
  block.norm = o.norm;
  block.dropout = o.dropout;
  return block;
}

}  // namespace

Transformer::Transformer(const TransformerOptions& o, Random& random)
    : options(checked(o)),
      token_embedding(o.vocab_size, o.d_model, random, o.initializer),
      lm_head(o.d_model, o.vocab_size, random, {.initializer = o.initializer, .bias = false}) {
  if (o.positions == Positions::learned) {
    positions.emplace(o.max_length, o.d_model, random, o.initializer);
  } else if (o.positions == Positions::sinusoidal) {
    sinusoids = sinusoidal_positions(o.max_length, o.d_model);
  }
  for (Index i = 0; i < o.num_layers; ++i) {
    blocks.emplace_back(o.d_model, o.num_heads, random, block_options(o));
  }
  if (o.norm == Norm::pre) norm.emplace(o.d_model);
}

Tensor Transformer::embed(const Indices& ids, Index first) const {
  if (ids.shape.ndim() < 1 || ids.shape.ndim() > 2) {
    throw Error("transformer: ids are " + to_string(ids.shape) +
                ": they must be (length) or (batch, length).");
  }
  const Tensor x = token_embedding(ids);  // (..., length, d_model)
  const Index length = ids.shape[-1], end = first + length;
  if (!positions && !sinusoids.defined()) return x;  // layers add them, or there are none
  if (sinusoids.defined() && end > options.max_length) {
    return x + sinusoidal_positions(length, options.d_model, first);
  }
  if (end > options.max_length) {
    throw Error("transformer: " + std::to_string(end) + " positions, but only " +
                std::to_string(options.max_length) +
                " were learned. Shorten the text, or train with a larger max_length.");
  }
  return x + slice(sinusoids.defined() ? sinusoids : positions->weight, 0, first, end);
}

Tensor Transformer::run(const Indices& ids, const Mask& mask, ForwardContext pass,
                        std::vector<KeyValueCache>* caches) const {
  const Index first = caches == nullptr || caches->empty() ? 0 : caches->front().length();
  Tensor x = Capture::record("embedding", dropout(embed(ids, first), options.dropout, pass.random));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Capture::Name name("blocks", static_cast<Index>(i));
    if (caches != nullptr) pass.cache = &(*caches)[i];
    x = blocks[i](x, mask, pass);  // (..., length, d_model)
  }
  if (norm) x = Capture::record("norm", (*norm)(x));
  return Capture::record("logits", lm_head(x));  // (..., length, vocab_size)
}

Tensor Transformer::operator()(const Indices& ids, const Mask& mask,
                               const ForwardContext& pass) const {
  if (pass.cache != nullptr) {
    throw Error("transformer: each block has a cache of its own: call next() with all of them.");
  }
  return run(ids, mask, pass, nullptr);
}

Tensor Transformer::next(const Indices& ids, std::vector<KeyValueCache>& caches) const {
  if (!options.is_causal) {
    throw Error(
        "transformer: next() is for a decoder: in an encoder, later words would change the earlier "
        "ones. Call the model on the whole text.");
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
  const Tensor y = run(ids, {}, {}, &seen);  // (batch, new, vocab_size)
  caches = std::move(seen);                  // only now, when nothing can throw
  return y;
}

}  // namespace tapestry
