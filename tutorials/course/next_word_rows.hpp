// The sentences on which the decoder of step 43 is trained and tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/held_out.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// The part that a sentence belongs to for good: one in ten is held out, by a hash of its text
// (FNV-1a).
inline Part part_of(const Sentence& sentence) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : sentence.text())
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return (hash >> 32) % 10 == 0 ? Part::held_out : Part::train;
}

// So many random sentences of that part, for guessing the next word: (count, 7).
inline Batch next_word_rows(const Vocabulary& vocabulary, Part part, Index count, Random& random) {
  std::vector<Words> texts;
  while (static_cast<Index>(texts.size()) < count) {
    const Sentence sentence = Grammar().sentence(random);
    if (part_of(sentence) == part) texts.push_back(sentence.words);
  }
  return next_word_batch(vocabulary, texts);
}

// The same rows with one target each, the last word: it is said before <eos>.
inline Batch last_words(Batch batch) {
  const Index length = batch.inputs.shape[1];
  for (std::size_t at = 0; at < batch.targets.values.size(); ++at) {
    if (static_cast<Index>(at) % length != length - 2) batch.targets.values[at] = -1;
  }
  return batch;
}

}  // namespace tapestry
