// Sentences of the grammar with one word hidden, and the word that it is linked to: is the link
// needed? For models of one layer of four heads that guess hidden words (step 23).
#pragma once

#include <array>
#include <vector>

#include "course/inside.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// So many sentences of form 2, which has an object ("the dog chased an old beetle"), or of form 1
// ("the cat sat on the mat"); the same ones at each call.
std::vector<Words> sentences_of_form(bool has_object, std::size_t count);

struct HiddenLink {
  const char* name;
  bool has_object;       // form 2, as in "the dog chased an old beetle"
  Index hidden, linked;  // positions in the sentence
};

// 2000 sentences of that form with that word hidden, the same ones at each call: (2000, 6).
Batch hide_word(const Vocabulary& vocabulary, const HiddenLink& link);

// Both in turn: each sentence of `form` is followed by one of `other`, which has no target. So a
// mean over the rows is over both forms, and the next sentence has the other form: (4000, 6).
Batch with_other_form(const Batch& form, const Batch& other);

// Each row with the word at this position of the next one: ids as given, (rows, 6).
Indices with_swapped(const Indices& ids, Index position);

using CutIn = std::array<bool, 4>;  // true: in this head

// The loss on the batch when the hidden word may not look at the linked one, in those heads.
double loss_without_link(const Transformer& model, const Batch& batch, const HiddenLink& link,
                         const CutIn& cut);

// The loss on the batch when those heads put out what they would if the linked word were that of
// the next sentence. Throws Error as Capture does, if another one is active.
double loss_with_swap(const Transformer& model, const Batch& batch, const HiddenLink& link,
                      const CutIn& swapped);

// The loss on the batch when the outputs of those heads are replaced.
double loss_without_heads(const Transformer& model, const Batch& batch, const CutIn& cut,
                          Replacement by);

// The mean weight of each head from the hidden word to the linked one.
std::vector<double> weights_on_link(const Transformer& model, const Batch& batch,
                                    const HiddenLink& link);

}  // namespace tapestry
