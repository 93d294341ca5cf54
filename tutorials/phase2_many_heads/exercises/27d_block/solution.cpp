#include "phase2.hpp"

namespace learn {

Tensor block_forward(const Tensor& x, const BlockParts& part) {
  const Tensor middle = x + part.attention(part.attention_norm(x));   // (n, d_model)
  return middle + part.feed_forward(part.feed_forward_norm(middle));  // (n, d_model)
}

}  // namespace learn
