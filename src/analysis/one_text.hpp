// What analyses of one text check first.
#pragma once

#include "tapestry/analysis/question.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// The ids as (1, length). `caller` begins the message: throws Error for several texts, an empty
// one, and a model without logits.
Indices one_text(const char* caller, const Transformer& model, const Indices& ids);

// The position of the question, counted from 0. Throws Error if it is not there.
Index position_in(const char* caller, const Question& question, Index length);

}  // namespace tapestry
