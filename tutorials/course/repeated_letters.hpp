// Texts of five letters and the same again, and on them what steps 33 and 36 measure: for step 37.
#pragma once

#include <vector>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

const TinyTask& repeated_letters_task();  // induction, with prompts of five letters

// Held-out texts such as "d a c f b d a c f b", the same first ones at each call.
std::vector<TaskSequence> repeated_letters(Index count);

// What is read of texts of this form before their last letter is said, <bos> and nine letters:
// (texts, 10).
Indices ids_before_last(const std::vector<TaskSequence>& texts);

// The mean weight of each head of a causal model, those of layer 0 first, while letters come again.
struct WeightsBehind {
  std::vector<double> trained, untrained;  // on the letter behind the same letter, in 300 texts
  // When the first five have changed places: on the key where that letter stood before, where it is
  // another one.
  std::vector<double> old_place;
};
WeightsBehind weights_behind(const Transformer& model);

// Each link of the last letter that is read, in layer 1, of 40 texts: its weight, and by how much
// the logit of the right letter falls without it. For a model like that of step 26.
struct CutLinks {
  std::vector<double> weights, falls;
};
CutLinks cut_links(const Transformer& model);

}  // namespace tapestry
