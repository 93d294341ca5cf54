// Pixels as a PNG file without a resolution, for canvases and for pictures inside an SVG file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tapestry/plot/colour.hpp"

namespace tapestry::plot {

// `pixels` is width × height of them, row by row from the top.
std::vector<std::uint8_t> png_bytes(std::span<const Colour> pixels, int width, int height);

}  // namespace tapestry::plot
