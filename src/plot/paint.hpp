// Rasterises the elements of a picture.
#pragma once

#include <span>

#include "tapestry/plot/element.hpp"

namespace tapestry::plot {

// Row by row from the top; `scale` is pixels per logical unit.
struct Pixels {
  std::span<Colour> colours;
  int width = 0, height = 0;
  double scale = 1;
};

// Draws the element over what is there.
void paint(Pixels pixels, const Element& element);

}  // namespace tapestry::plot
