#include "analysis/one_text.hpp"

#include "tapestry/error.hpp"

namespace tapestry {

Indices one_text(const char* caller, const Transformer& model, const Indices& ids) {
  ids.check(caller);
  if (!model.options.has_logits) {
    throw Error(std::string(caller) + ": this model has no logits, so that it answers nothing.");
  }
  const bool one = ids.shape.ndim() == 1 || (ids.shape.ndim() == 2 && ids.shape[0] == 1);
  if (!one || ids.shape.numel() == 0) {
    throw Error(std::string(caller) + ": ids are " + to_string(ids.shape) +
                ": give one text, (length), with at least one token.");
  }
  return Indices({1, ids.shape.numel()}, ids.values);
}

Index position_in(const char* caller, const Question& question, Index length) {
  const Index at = question.position < 0 ? question.position + length : question.position;
  if (at >= 0 && at < length) return at;
  throw Error(std::string(caller) + ": there is no position " + std::to_string(question.position) +
              ": the text's are 0 to " + std::to_string(length - 1) + ".");
}

}  // namespace tapestry
