// Texts of several sentences in which words are hidden: for step 52.
#pragma once

#include <vector>

#include "course/grammar.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// So many texts, each of so many random sentences, one behind the other. About one word in six is
// hidden: <mask> stands there, and the target is the word. Elsewhere the target is -1. Both
// (rows, 6 * sentences), of a vocabulary that has the grammar's words.
inline Batch hidden_word_rows(const Vocabulary& vocabulary, Index sentences, Index rows,
                              Random& random) {
  std::vector<Words> texts(static_cast<std::size_t>(rows));
  for (Words& text : texts) {
    for (Index i = 0; i < sentences; ++i) {
      const Words words = Grammar().sentence(random).words;
      text.insert(text.end(), words.begin(), words.end());
    }
  }
  Batch batch{vocabulary.batch(texts), vocabulary.batch(texts), {}};
  for (std::size_t at = 0; at < batch.inputs.values.size(); ++at) {
    if (random.randint(6) == 0) {
      batch.inputs.values[at] = Vocabulary::mask;
    } else {
      batch.targets.values[at] = -1;  // nothing is to be said here
    }
  }
  return batch;
}

}  // namespace tapestry
