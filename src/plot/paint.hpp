// Rasterises the elements of a picture.
#pragma once

#include <span>

#include "tapestry/plot/element.hpp"

namespace tapestry::plot {

// Row by row from the top; `scale` is pixels per logical unit.
struct Pixels {
  std::span<Colour> colours;
  int width, height;
  double scale;
};

// Draws the element over what is there.
void paint(Pixels pixels, const Element& element);

}  // namespace tapestry::plot
