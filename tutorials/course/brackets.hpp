// Brackets of a few kinds, properly nested (a Dyck language of bounded depth): each closing bracket
// matches the latest bracket that is still open.
//
//   <bos> ( [ ] { ( ) } ) [ ] <eos>
//
// Scored are the closing brackets and <eos>. Each has one right answer: the closing bracket of the
// latest open bracket, and <eos> where none is open. Opening brackets are drawn by chance and are
// not scored: a model learns which bracket closes, not when.
//
// To beat: guesses that know nothing of nesting. The shares of right closing brackets, and of texts
// in which all are right, with the sizes below:
//   any kind, by chance                                              33 %    0.4 %
//   the nearest opening bracket to the left, closed or not           75 %     19 %
//   any kind of which more brackets were opened than closed          78 %     31 %
//   the nearest opening bracket of such a kind                       94 %     72 %
// The last is nearly right, so count whole texts: exact_matches (batch.hpp). Of the closing
// brackets 54 % close at a depth of 2 or more.
#pragma once

#include "course/held_out.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

struct BracketSize {
  Index kinds = 3;             // of () [] {}, the first so many; 2 or 3
  Index fewest = 4, most = 8;  // pairs of a text
  Index depth = 4;             // most brackets that are open at once
};

class BracketTask {
 public:
  // Throws Error unless kinds is 2 or 3, 4 <= fewest <= most <= 500 and depth >= 2.
  explicit BracketTask(BracketSize size = {});

  // The opening brackets, then the closing ones in the same order.
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // The most positions of a row of inputs (below), <bos> included: what a model has to hold.
  Index length() const { return 1 + 2 * size_.most; }

  // Every number of pairs from fewest to most is equally likely, in both parts, and so is every
  // kind of each pair. Where a bracket may be opened as well as closed, a fair coin decides. A text
  // belongs to one part for good: a hash of its words says which, the same for every generator and
  // seed. One in ten is held out.
  Words text(Part part, Random& random) const;

  // Inputs are <bos> and the words, targets the next word where it is a closing bracket or <eos>,
  // and -1 elsewhere. Throws Error for less than one row.
  Batch batch(Part part, Index rows, Random& random) const;

 private:
  BracketSize size_;
  Vocabulary vocabulary_;
};

}  // namespace tapestry
