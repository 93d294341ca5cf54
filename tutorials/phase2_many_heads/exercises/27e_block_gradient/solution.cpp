#include "phase2.hpp"

namespace learn {

Tensor block_backward(const Tensor& x, const BlockParts& part, const BlockPartsBackward& back,
                      const Tensor& dy) {
  const Tensor seen = part.attention_norm(x);                // (n, d_model)
  const Tensor middle = x + part.attention(seen);            // (n, d_model)
  const Tensor seen_later = part.feed_forward_norm(middle);  // (n, d_model)

  const Tensor dseen_later = back.feed_forward(seen_later, dy);             // (n, d_model)
  const Tensor dmiddle = dy + back.feed_forward_norm(middle, dseen_later);  // (n, d_model)
  return dmiddle + back.attention_norm(x, back.attention(seen, dmiddle));   // (n, d_model)
}

}  // namespace learn
