#include "tapestry/analysis/question.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

// logits (..., vocab_size) at the position.
Tensor said_at(const Tensor& logits, Index position) {
  if (logits.ndim() < 2) {
    throw Error("question: logits are " + to_string(logits.shape()) +
                ": they must be (..., length, vocab_size).");
  }
  const Index length = logits.size(-2), at = position < 0 ? position + length : position;
  if (at < 0 || at >= length) {
    throw Error("question: there is no position " + std::to_string(position) +
                ": the text's are 0 to " + std::to_string(length - 1) + ".");
  }
  return squeeze(slice(logits, -2, at, at + 1), -2);  // (..., vocab_size)
}

Tensor of_token(const Tensor& values, std::int32_t token) {
  if (token < 0 || token >= values.size(-1)) {
    throw Error("question: there is no token " + std::to_string(token) + ": the model's are 0 to " +
                std::to_string(values.size(-1) - 1) + ".");
  }
  return squeeze(slice(values, -1, token, token + 1), -1);  // (...)
}

}  // namespace

Tensor answer(const Tensor& logits, const Question& question) {
  const Tensor said = said_at(logits, question.position);  // (..., vocab_size)
  if (!question.against) return of_token(log_softmax(said), question.token);
  return of_token(said, question.token) - of_token(said, *question.against);  // (...)
}

std::int32_t likeliest_token(const Tensor& logits, Index position) {
  const std::vector<real> values = said_at(logits, position).values();
  return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace tapestry
