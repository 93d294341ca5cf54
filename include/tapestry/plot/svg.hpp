// Pictures as SVG files: shapes that stay sharp at any size, and words that are text.
#pragma once

#include <filesystem>
#include <string>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// The text of an SVG file; the same canvas gives the same text. Words are in DejaVu Sans, or where
// that is missing in Verdana, which is as wide; their Role is their class: row-label, x-tick. A
// block of more than 1024 cells is an embedded PNG, a pixel for each.
[[nodiscard]] std::string encode_svg(const Canvas& canvas);

// Writes the picture to `path` atomically, as write_png does. Throws Error also with the path and
// the reason.
void write_svg(const Canvas& canvas, const std::filesystem::path& path);

// Writes PNG where the name ends in .png, SVG where it ends in .svg. Throws Error for other names.
void write_picture(const Canvas& canvas, const std::filesystem::path& path);

}  // namespace tapestry::plot
