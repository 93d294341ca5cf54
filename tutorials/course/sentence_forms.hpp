// Sentences of five forms that are made of the same words in another order.
//
//   statement     the cat will chase the small dog today
//   question      will the cat chase the small dog today
//   time first    today the cat will chase the small dog
//   object first  the small dog the cat will chase today
//   verb first    chase the small dog the cat will today
//
// The words are drawn first, each with equal chances, and know nothing of the form: a model that
// only counts words is right in one case of five, whatever it learns. An adjective stands before
// every second noun, by chance, so that sentences have 7 to 9 words and places shift.
#pragma once

#include <string>
#include <vector>

#include "course/held_out.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

enum class SentenceForm { statement, question, time_first, object_first, verb_first };
constexpr Index sentence_forms = 5;

std::string to_string(SentenceForm form);  // "statement", "question", "time first", ...

struct FormSentence {
  Words words;
  SentenceForm form;
};

struct FormBatch {
  Indices ids;                 // (rows, longest), short rows filled up with <pad>
  std::vector<Index> lengths;  // of each row without what fills it: for Mask::padding
  Indices forms;               // (rows): 0 to 4, in the order of SentenceForm
};

// The same sentences in rows of `length`, filled up with <pad>, as if a longer one stood in the
// batch. Throws Error if the rows are longer.
FormBatch padded(const FormBatch& batch, Index length);

class SentenceForms {
 public:
  SentenceForms();

  const Vocabulary& vocabulary() const { return vocabulary_; }

  // All five forms are equally likely. The five sentences of the same words belong to one part for
  // good, by a hash of the words, the same for every generator and seed; one in ten is held out.
  FormSentence sentence(Part part, Random& random) const;

  // Throws Error for less than one row.
  FormBatch batch(Part part, Index rows, Random& random) const;

  // The same from these sentences.
  FormBatch batch(const std::vector<FormSentence>& sentences) const;

  // The share of sentences that are told right by their first word alone: for each word the form
  // that most often begins with it, in 20000 sentences for training.
  double first_word_alone(const FormBatch& test) const;

  // Another question, for which two words have to be compared: "the cat will chase the dog today".
  // `forms` is 1 if subject and object are the same noun, as in half of the sentences, or else 0.
  // Throws Error for less than one row.
  FormBatch same_nouns(Index rows, Random& random) const;

 private:
  Vocabulary vocabulary_;
};

}  // namespace tapestry
