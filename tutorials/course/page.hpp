// The page of step 37: a banner, and below it cards for pictures.
#pragma once

#include <cstddef>

#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// An empty page with the banner and room for four rows of three cards.
plot::Canvas page();

// Draws a card with the phase's name, `wide` columns wide; returns the area that is left inside.
plot::Rect card(plot::Canvas& canvas, int down, int across, std::size_t phase, int wide = 1);

}  // namespace tapestry
