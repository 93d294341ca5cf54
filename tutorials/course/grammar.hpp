// Small English sentences, made by rules, whose structure is known.
//
// Every sentence has six words and one of two forms:
//   determiner noun verb preposition determiner noun       the cat sat on the mat
//   determiner noun verb determiner adjective noun         the dog chased an old beetle
// Each choice depends, besides the form, on one other word: the verb on its subject (pets sleep,
// birds sing), the object on its verb, the place on its preposition (so that a cow may rest on a
// sofa), a or an on the word behind it. A hidden word is thus best guessed from the words it is
// linked to (a verb from its subject and its object), and the links are known. The best possible
// guesser is right in 39.5 % of all cases, with a cross-entropy of 1.10.
//
// A model that reads from left to right cannot do better than Grammar::entropy: 10.24 nats for a
// sentence, or 1.46 for each of the seven words that it says of `<bos> w1 ... w6`, <eos> included.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

enum class Role {
  determiner_noun,    // from a determiner to its noun
  subject_verb,       // from the subject's noun to the verb
  verb_object,        // from the verb to the noun of its object, in the second form
  preposition_place,  // from the preposition to the noun of the place, in the first form
};

std::string to_string(Role role);  // "determiner-noun", "subject-verb", ...

// Two words that belong together, by their positions in the sentence.
struct Link {
  Role role;
  int from, to;

  bool operator==(const Link&) const = default;
};

struct Sentence {
  Words words;              // six, lower-case
  std::vector<Link> links;  // two of determiner_noun, one of subject_verb, one of the other two

  std::string text() const;  // the words with a blank between them
};

// The words of a sentence in random order, with the links of the same words: a baseline for what
// a head seems to know about sentences.
Sentence shuffled(const Sentence& sentence, Random& random);

class Grammar {
 public:
  // Every word that a sentence can contain, in a fixed order: 91, with a Vocabulary's special
  // words 96.
  Words words() const;

  // A random sentence: form, kind of subject and every word are drawn with equal chances.
  // The same generator in the same state gives the same sentence on every machine.
  Sentence sentence(Random& random) const;

  // So many random sentences for next_word_batch: (count, 7) of a vocabulary that has words().
  Batch batch(const Vocabulary& vocabulary, Index count, Random& random) const;

  // "the cat sat on the mat", one of the sentences that the rules allow.
  Sentence example() const;

  // What follows is exact: it counts through all sentences that the rules allow, 28 160 of them.

  // Entropy in nats of the first `words` words of a sentence: - sum p log p. The least possible
  // mean cross-entropy of word i (from 0), given those before it, is entropy(i + 1) - entropy(i);
  // that of <eos> is 0. Throws Error unless words is 0 to 6.
  double entropy(int words = 6) const;

  // ln of the probability that `words` is the sentence; -infinity if the rules do not allow it.
  double log_probability(const Words& words) const;

  // How probable each word is after these first words; <eos> after a whole sentence. Words that
  // cannot follow are not listed: the map is empty if no sentence begins so.
  std::map<std::string, double> next_word(const Words& beginning) const;
};

}  // namespace tapestry
