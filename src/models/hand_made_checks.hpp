// What a hand-made model refuses.
#pragma once

#include <vector>

#include "tapestry/models/hand_made.hpp"

namespace tapestry {

// Throws Error for options that cannot be.
void check_hand_made(const HandMadeOptions& options);

// Throws Error for heads that are not a model: numbers, order, and what one needs of another.
void check_hand_made(const std::vector<HandMadeHead>& heads);

// Throws Error, naming the head, unless its matrices are complete, fit and are finite.
void check_matrices(const HandMadeHead& head, const HandMadeMatrices& matrices, Index d_model);

// Throws Error for more than 20 million numbers.
void check_hand_made_size(const HandMadeOptions& options, Index layers, Index heads, Index d_k);

// "hand-made head 1.0"
std::string name_of(const HandMadeHead& head);

}  // namespace tapestry
