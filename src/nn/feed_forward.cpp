#include "tapestry/nn/feed_forward.hpp"

namespace tapestry {

FeedForward::FeedForward(Index d_model, Random& random, const FeedForwardOptions& o)
    : up(d_model, o.d_ff == 0 ? 4 * d_model : o.d_ff, random, {o.initializer, o.bias}),
      down(o.d_ff == 0 ? 4 * d_model : o.d_ff, d_model, random, {o.initializer, o.bias}),
      activation(o.activation) {
  if (o.gated)
    gate.emplace(d_model, up.weight.size(1), random, LinearOptions{o.initializer, o.bias});
}

Tensor FeedForward::operator()(const Tensor& x) const {
  return down(gate ? (*gate)(x, activation) * up(x) : up(x, activation));  // (..., d_model)
}

Members FeedForward::members() const { return {{"gate", gate}, {"up", up}, {"down", down}}; }

}  // namespace tapestry
