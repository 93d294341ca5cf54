// A PNG file read back by an independent decoder, and helpers to look at its pixels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

struct Decoded {
  int width = 0, height = 0;
  std::vector<Colour> pixels;
  Colour at(int column, int row) const {
    return pixels.at(static_cast<std::size_t>(row) * width + column);
  }
};

// Throws std::runtime_error when the bytes are not a picture.
Decoded decode_png(const std::vector<std::uint8_t>& bytes);
Decoded decode_png(const Canvas& canvas);

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path);

// True if a pixel within the box differs from `paper`. In device pixels, clipped to the picture.
bool has_ink(const Decoded& picture, int left, int top, int right, int bottom,
             Colour paper = white);

// True if the outermost frame of pixels is empty, so that nothing is cut off by the border.
bool has_clean_border(const Decoded& picture);

// The message of the Error that `action` throws; empty when it throws none.
template <typename Action>
std::string words_of_error(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tapestry::plot
