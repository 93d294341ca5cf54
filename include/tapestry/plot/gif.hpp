// Animations as GIF files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// The bytes of a GIF file that shows the frames in turn, each for `seconds` (rounded to 1/100),
// and repeats without end. The same frames give the same bytes. A frame given twice is shown twice
// as long and costs a few bytes.
// All frames share one palette of at most 256 colours: an animation with few colours keeps them, to
// within 3 of 255 where two are that close; others lose shades. Transparency is blended with
// theme::paper.
// Throws Error if there are no frames, if they differ in size, or for seconds outside 0.02 ... 655
// (viewers treat shorter ones differently).
[[nodiscard]] std::vector<std::uint8_t> encode_gif(const std::vector<Canvas>& frames,
                                                   double seconds = 0.1);

// Writes the animation to `path` atomically, as write_png does. Throws Error also with the path and
// the reason.
void write_gif(const std::vector<Canvas>& frames, const std::filesystem::path& path,
               double seconds = 0.1);

}  // namespace tapestry::plot
