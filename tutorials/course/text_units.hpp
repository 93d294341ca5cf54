// How well a text is predicted in units of one kind, such as words or tokens, in a row of a table
// and as a picture: for step 70.
#pragma once

#include <string>
#include <vector>

#include "course/token_boxes.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry {

struct TextUnits {
  std::string name;
  double vocabulary = 0;      // how many different ones there are
  double per_1000_bytes = 0;  // how many stand in so much of the text
  double known = 0;           // the share of those that the vocabulary holds
  double loss = 0;            // nats for one
  double bits_per_byte = 0;   // 0 where <unk> stands for units that nobody can spell
  TokenRow pictured = {};     // a sentence in tokens
};

// One line.
void print_row(const TextUnits& units);

// Above, what is pictured of each. Below, over the vocabulary (a logarithmic axis), at the left how
// many units stand in 1000 bytes, at the right the two losses. Throws Error if there are none.
plot::Canvas picture_of_units(const std::vector<TextUnits>& all);

}  // namespace tapestry
