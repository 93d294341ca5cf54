// The picture of step 18: where hidden words look, and what their guesses need.
#pragma once

#include <array>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// Of one form of sentences, by hidden place and place looked at, row by row.
struct Needs {
  std::vector<double> weight;        // mean, from 0 to 1
  std::vector<double> cut, swapped;  // the rise of the loss, up to 9
};

// For both forms, one below the other, three maps: weight, cut and swapped. places[i] are the names
// of the places in form i + 1. Throws Error unless the numbers are as many as the square of these.
plot::Canvas maps_of_needs(const std::array<Words, 2>& places, const std::array<Needs, 2>& needs);

}  // namespace tapestry
