#include "tapestry/nn/transformer_block.hpp"

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

namespace {

void check_attention_only(const TransformerBlockOptions& o) {
  if (o.has_feed_forward) return;
  const FeedForwardOptions& f = o.feed_forward;
  const char* given = f.d_ff != 0           ? "d_ff is given"
                      : f.gated             ? "a gate is wanted"
                      : !f.bias             ? "its bias is left out"
                      : o.parallel_residual ? "it is to be parallel to attention"
                      : f.activation != FeedForwardOptions().activation ? "an activation is given"
                                                                        : nullptr;
  if (given == nullptr) return;
  throw Error(std::string("transformer block: there is no feed-forward (has_feed_forward is "
                          "false), but ") +
              given + ": leave that option out, or keep the feed-forward.");
}

}  // namespace

TransformerBlock::TransformerBlock(Index d_model, Index heads, Random& random,
                                   const TransformerBlockOptions& o)
    : attention_norm(o.norm_kind, d_model, o.norm_eps),
      attention(d_model, heads, random, o.attention),
      parallel_residual(o.parallel_residual),
      norm_place(o.norm_place),
      dropout(o.dropout) {
  if (!(dropout >= 0 && dropout < 1)) {
    throw Error("transformer block: dropout is " + exact_text(dropout) +
                ", but must be in [0, 1).");
  }
  check_attention_only(o);
  if (parallel_residual && norm_place == NormPlace::post) {
    throw Error(
        "transformer block: attention and feed-forward in parallel need the norm before them: give "
        "NormPlace::pre.");
  }
  if (!o.has_feed_forward) return;
  feed_forward_norm.emplace(o.norm_kind, d_model, o.norm_eps);
  feed_forward.emplace(d_model, random, o.feed_forward);
}

Tensor TransformerBlock::operator()(const Tensor& x, const Mask& mask,
                                    const ForwardContext& pass) const {
  const bool pre = norm_place == NormPlace::pre;
  const auto attend = [&](const Tensor& seen) {
    const Capture::Name name("attention");
    // (..., length, d_model)
    return tapestry::dropout(attention(seen, mask, pass), dropout, pass.random);
  };
  Tensor y = pre ? x + attend(attention_norm(x)) : attention_norm(x + attend(x));
  y = Capture::record("middle", y);  // (..., length, d_model)
  if (feed_forward) {
    const auto transform = [&](const Tensor& seen) {
      const Tensor given = tapestry::dropout((*feed_forward)(seen), dropout, pass.random);
      return Capture::record("feed_forward", given);  // (..., length, d_model)
    };
    y = pre ? y + transform((*feed_forward_norm)(parallel_residual ? x : y))
            : (*feed_forward_norm)(y + transform(y));
  }
  return Capture::record("output", y);  // (..., length, d_model)
}

Members TransformerBlock::members() const {
  return {{"attention_norm", attention_norm},
          {"attention", attention},
          {"feed_forward_norm", feed_forward_norm},
          {"feed_forward", feed_forward}};
}

}  // namespace tapestry
