// Pictures as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// The bytes of a PNG file; the same canvas gives the same bytes. Pictures without transparency are
// stored as RGB. `dots_per_inch` is written down for printing and changes no pixel.
std::vector<std::uint8_t> encode_png(const Canvas& canvas, double dots_per_inch = 300);

// Writes the picture to `path`, making missing folders. The file appears whole or not at all: it
// is written beside its place, flushed to the disk and renamed. Throws Error with the path and
// the reason (no space, no permission, is a folder ...).
void write_png(const Canvas& canvas, const std::filesystem::path& path, double dots_per_inch = 300);

}  // namespace tapestry::plot
