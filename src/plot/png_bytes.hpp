// Pixels as a PNG file without a resolution, for canvases and for pictures inside an SVG file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tapestry/plot/colour.hpp"

namespace tapestry::plot {

// Throws Error for a picture too large to encode; `channels` is 3, or 4 with transparency.
void check_png_size(std::int64_t width, std::int64_t height, std::int64_t channels);

// `pixels` is width × height of them, row by row from the top. Throws Error if they are too many.
std::vector<std::uint8_t> png_bytes(std::span<const Colour> pixels, int width, int height);

}  // namespace tapestry::plot
