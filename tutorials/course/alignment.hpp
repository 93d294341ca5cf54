// How the weights of a translator agree with where its words come from: for step 6c and its
// experiment.
#pragma once

#include "course/lstm_translator.hpp"
#include "tapestry/accuracy.hpp"

namespace tapestry {

struct Alignment {   // in held-out sentences of 5 noun phrases
  double sentences;  // share wholly right
  double aligned;    // mean weight on the source word that is translated,
  double nouns;      // for nouns alone,
  double verbs;      // for verbs alone;
  double phrases;    // for adjectives and prepositions: on the noun that ends their phrase
  double top;        // how often the aligned word has the greatest weight
};

// 1 where one of so many words stands that follow each other in the vocabulary. (rows, 1, source)
inline Tensor places_of_words(const Indices& source, std::int32_t first, std::int32_t words) {
  Tensor places = Tensor::zeros({source.shape[0], 1, source.shape[1]});
  for (std::size_t at = 0; at < source.values.size(); ++at) {
    places.data()[at] = source.values[at] >= first && source.values[at] < first + words;
  }
  return places;
}

inline Alignment alignment(const LstmTranslator& model) {
  Random random(77);
  const TranslationTask task({5, 5});
  const TranslationBatch b = task.batch(Part::held_out, 300, random);
  const LstmTranslator::Output said = model(b);
  const Tensor& w = said.weights;  // (300, target, source)
  const auto mean_on = [&](const Tensor& marked) {
    return double{sum(w * marked).item()} / double{sum(marked).item()};
  };
  const Tensor nouns =
      places_of_words(b.source, task.source_words().id("cats"), 8);  // (300, 1, source)
  const Tensor verbs =
      places_of_words(b.source, task.source_words().id("chase"), 4);  // (300, 1, source)
  const auto behind = [](const Tensor& x) {  // x's shape: marks the next place
    return concat({Tensor::zeros({x.size(0), x.size(1), 1}), slice(x, 2, 0, x.size(2) - 1)}, 2);
  };
  // Behind an adjective stands its noun, behind a preposition a noun or its adjective.
  const Tensor next = behind(b.from * (1 - nouns - verbs));                // (300, target, source)
  const Tensor phrase_noun = (next + behind(next * (1 - nouns))) * nouns;  // (300, target, source)
  const Tensor on = sum(w * b.from, -1);                                   // (300, target)
  const Tensor is_top = on == max(w, -1);  // (300, target), <eos> comes from no word: 0
  return {double(exact_matches(said.logits, b.target.targets)) / 300,
          mean_on(b.from),
          mean_on(b.from * nouns),
          mean_on(b.from * verbs),
          mean_on(phrase_noun),
          double{sum(is_top).item()} / double{sum(b.from).item()}};
}

}  // namespace tapestry
