#include "tapestry/nn/feed_forward.hpp"

#include "nn/append.hpp"

namespace tapestry {

FeedForward::FeedForward(Index d_model, Random& random, const FeedForwardOptions& o)
    : up(d_model, o.d_ff == 0 ? 4 * d_model : o.d_ff, random, {o.initializer, o.bias}),
      down(o.d_ff == 0 ? 4 * d_model : o.d_ff, d_model, random, {o.initializer, o.bias}),
      activation(o.activation) {}

Tensor FeedForward::operator()(const Tensor& x) const { return down(up(x, activation)); }

Parameters FeedForward::parameters(const std::string& prefix) const {
  Parameters list;
  append(list, up.parameters(prefix + "up."));
  append(list, down.parameters(prefix + "down."));
  return list;
}

}  // namespace tapestry
