// What a model says without some of its heads.
#pragma once

#include <string>

#include "subject.hpp"

namespace tapestry::command {

// By how much the log-probability of a word falls without parts of the model (analysis/cuts.hpp).
struct Cuts {
  std::string word = {};  // the model's likeliest, printable; "" if it says none, and without cuts
  Tensor heads = {};      // (layers, heads)
  Tensor layers = {};     // (layers, 2), attention first
};

// The word is what the model says behind the text or, trained on hidden words, for the first
// <mask>; "" without one. None for a single head, and for large models (model.hpp): tapestry cut
// takes the time. No Capture may be active.
Cuts cuts_of(const Subject& subject, const Indices& ids);

}  // namespace tapestry::command
