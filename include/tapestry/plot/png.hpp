// Pictures as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// The bytes of a PNG file; the same canvas gives the same bytes. Pictures without transparency are
// stored as RGB. `dots_per_inch` is stored for printing and changes no pixel. Throws Error for more
// than 1.4e9 bytes of pixels: 21,600 x 21,600 of them, or 18,700 x 18,700 with transparency.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Canvas& canvas,
                                                   double dots_per_inch = 300);

// Writes the picture to `path`, making missing folders, atomically: to a temporary file, flushed to
// the disk and renamed. Throws Error as encode_png, or with path and reason (no space, say).
void write_png(const Canvas& canvas, const std::filesystem::path& path, double dots_per_inch = 300);

// A picture as stored in a file.
struct Image {
  int width = 0, height = 0;
  int channels = 0;  // 1: grey; 2: grey, alpha; 3: red, green, blue; 4: red, green, blue, alpha
  // Row by row from the top, in each row pixel by pixel: height * width * channels of them.
  std::vector<std::uint8_t> values = {};
};

// Reads a PNG with the channels that it has. Fewer than 8 bits are scaled to 0 ... 255, and palette
// indexes become their colours; 16 bits are refused. image_tensor (pictures.hpp) makes a tensor of
// it. The file is not trusted: at most 32768 pixels on each side and 2^26 in all, and no more
// memory than they need; checksums are not checked. Throws Error with the file and the reason.
[[nodiscard]] Image read_png(const std::filesystem::path& path);

}  // namespace tapestry::plot
