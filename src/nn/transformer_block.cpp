#include "tapestry/nn/transformer_block.hpp"

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

TransformerBlock::TransformerBlock(Index d_model, Index heads, Random& random,
                                   const TransformerBlockOptions& o)
    : attention_norm(d_model, o.eps),
      attention(d_model, heads, random, o.attention),
      norm(o.norm),
      dropout(o.dropout) {
  if (!(dropout >= 0 && dropout < 1)) {
    throw Error("transformer block: dropout is " + exact_text(dropout) +
                ", but must be in [0, 1).");
  }
  if (!o.has_feed_forward) return;
  feed_forward_norm.emplace(d_model, o.eps);
  feed_forward.emplace(d_model, random, o.feed_forward);
}

Tensor TransformerBlock::operator()(const Tensor& x, const Mask& mask,
                                    const ForwardContext& pass) const {
  const bool pre = norm == Norm::pre;
  const auto attend = [&](const Tensor& seen) {
    const Capture::Name name("attention");
    return tapestry::dropout(attention(seen, mask, pass), dropout, pass.random);
  };
  Tensor y = pre ? x + attend(attention_norm(x)) : attention_norm(x + attend(x));
  y = Capture::record("middle", y);  // (..., length, d_model)
  if (feed_forward) {
    const auto transform = [&](const Tensor& seen) {
      return tapestry::dropout((*feed_forward)(seen), dropout, pass.random);
    };
    y = pre ? y + transform((*feed_forward_norm)(y)) : (*feed_forward_norm)(y + transform(y));
  }
  return Capture::record("output", y);  // (..., length, d_model)
}

}  // namespace tapestry
