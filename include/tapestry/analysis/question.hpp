// What is asked of a model about one text: how sure it is of one token at one position. Cuts,
// patches and attributions measure by how much the answer changes.
//
//   const Question sat{.position = 2, .token = vocabulary.id("sat")};
//   answer(model(ids), sat);                            // ln p(sat), said at position 2
//   answer(model(ids), {.token = he, .against = she});  // logit(he) - logit(she), at the end
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tapestry/tensor.hpp"

namespace tapestry {

struct Question {
  Index position = -1;     // where the model says it; below 0 from the end, -1 the last
  std::int32_t token = 0;  // which may come next there (a decoder), or stands there (an encoder)
  // Another token: the answer is then the difference of the two logits. Softmax's denominator does
  // not enter it, so that parts of a model can add up to it.
  std::optional<std::int32_t> against = {};
  // Cuts and patches call it after each batch of readings, with how many are made, of how many.
  std::function<void(Index made, Index all)> progress = {};
};

// ln(probability of the token), or the difference of logits: logits (..., length, vocab_size) ->
// (...). Throws Error for a position or a token that is not there.
[[nodiscard]] Tensor answer(const Tensor& logits, const Question& question);

// The token with the largest logit at a position, the first of several: logits (length,
// vocab_size). Throws Error for a position that is not there.
[[nodiscard]] std::int32_t likeliest_token(const Tensor& logits, Index position = -1);

}  // namespace tapestry
