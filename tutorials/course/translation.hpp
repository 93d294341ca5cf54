// A small language, another one, and the one right translation between them.
//
//   small cats near dogs chase black birds
//   gati pikoli kane visin uceli neri kacin
//
// A source sentence is a subject, a verb and an object, where subject and object may be followed by
// more noun phrases, each behind a preposition:
//   phrase verb phrase,  phrase = [adjective] noun { preposition [adjective] noun }
// Its translation differs in three ways, besides the words:
//   order      the verb stands last, an adjective behind its noun, a preposition behind its phrase
//   agreement  nouns are of two classes that only the target language shows (gati, kane); an
//              adjective ends as its noun does: pikoli gati, pikole kane
//   far away   the verb, last, ends as the first noun does: kacin for cats, kacen for dogs
// Every target word comes from exactly one source word, and which is known. Words are drawn with
// equal chances, so no sentence is likelier for what it means.
//
// To beat: a model that writes well-formed target sentences without looking at the source is right
// about one noun in eight.
#pragma once

#include <vector>

#include "course/held_out.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

struct Translation {
  Words source, target;        // of equal length
  std::vector<Index> from;     // of each target word: the source word that it translates
  std::vector<Index> ends_as;  // of each target word: the source noun its ending agrees with, or -1
};

// The translation of a source sentence. Throws Error for a word that the source language does not
// have, naming the closest, and for a sentence that is not of its form, naming the word where it
// ceases to be.
Translation translate(const Words& source);

struct TranslationSize {
  Index fewest = 2, most = 5;  // noun phrases of a sentence; a sentence of n has 2n - 1 to 3n - 1
};  // words: one adjective less or more for each noun

struct TranslationBatch {
  Indices source;                     // (rows, longest), short rows filled up with <pad>
  std::vector<Index> source_lengths;  // of each row without what fills it: for Mask::padding
  Batch target;                       // <bos> and the translation; the next word at each position
  // (rows, longest target with <bos>, longest source): 1 where the target word said there comes
  // from the source word, and where it ends as the source noun does; 0 elsewhere. Attention that
  // aligns as the languages do is equal to `from`.
  Tensor from, ends_as;
};

class TranslationTask {
 public:
  // Throws Error unless 2 <= fewest <= most <= 100.
  explicit TranslationTask(TranslationSize size = {});

  const Vocabulary& source_words() const { return source_; }
  const Vocabulary& target_words() const { return target_; }

  // Every number of noun phrases from fewest to most is equally likely, in both parts; an adjective
  // stands before every second noun, by chance. A source sentence belongs to one part for good: a
  // hash of its words says which, the same for every generator and seed. One in ten is held out.
  Translation sentence(Part part, Random& random) const;

  // For training and testing; exact_matches (batch.hpp) counts the translations that are wholly
  // right. Throws Error for less than one row.
  TranslationBatch batch(Part part, Index rows, Random& random) const;

  // The same from sentences of your own, translate({"cats", ...}) say.
  TranslationBatch batch(const std::vector<Translation>& sentences) const;

 private:
  TranslationSize size_;
  Vocabulary source_, target_;
};

}  // namespace tapestry
