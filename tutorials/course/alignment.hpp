// How the weights of a translator agree with where its words come from: for step 6c and its
// experiment.
#pragma once

#include "course/lstm_translator.hpp"
#include "tapestry/accuracy.hpp"

namespace tapestry {

struct Alignment {   // in held-out sentences of 5 noun phrases
  double sentences;  // share wholly right
  double aligned;    // mean weight on the source word that is translated,
  double next;       // on the one behind it,
  double agreeing;   // on the noun that the word agrees with, where there is one
  double top;        // how often the aligned word has the greatest weight
};

inline Alignment alignment(const LstmTranslator& model) {
  Random random(77);
  const TranslationBatch b = TranslationTask({5, 5}).batch(Part::held_out, 300, random);
  const LstmTranslator::Output said = model(b);
  const Tensor& w = said.weights;  // (300, target, source)
  const Index keys = w.size(2);
  const auto mean_on = [](const Tensor& weights, const Tensor& marked) {
    return double{sum(weights * marked).item()} / double{sum(marked).item()};
  };
  Alignment found{double(exact_matches(said.logits, b.target.targets)) / 300, mean_on(w, b.from),
                  mean_on(slice(w, 2, 1, keys), slice(b.from, 2, 0, keys - 1)),
                  mean_on(w, b.ends_as), 0};
  const Tensor on = sum(w * b.from, -1);   // (300, target)
  const Tensor is_top = on == max(w, -1);  // (300, target), <eos> comes from no word: 0
  found.top = double{sum(is_top).item()} / double{sum(b.from).item()};
  return found;
}

}  // namespace tapestry
