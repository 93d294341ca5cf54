#include "cuts.hpp"

#include <algorithm>

#include "tapestry/analysis/cuts.hpp"

namespace tapestry::command {
namespace {

// The position at which the model says a word, or -1.
Index place_of_guess(const Subject& subject, const Indices& ids) {
  if (subject.guess == Guess::next_word) return ids.shape[0] - 1;
  const auto mask = std::find(ids.values.begin(), ids.values.end(), subject.mask);
  const bool hidden = subject.guess == Guess::hidden_word && mask != ids.values.end();
  return hidden ? mask - ids.values.begin() : -1;
}

}  // namespace

Cuts cuts_of(const Subject& subject, const Indices& ids) {
  Cuts cuts;
  const Index place = place_of_guess(subject, ids);
  if (place < 0 || is_large(subject.model) || subject.model.is_one_head()) return cuts;
  const Transformer& model = subject.model.transformer();
  const Question question{place, likeliest_token(model(ids), place), {}};
  cuts.word = subject.word(question.token);
  cuts.heads = cut_heads(model, ids, question);
  cuts.layers = cut_layers(model, ids, question);
  return cuts;
}

}  // namespace tapestry::command
