#include "plot/decoded.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tapestry/plot/png.hpp"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

namespace tapestry::plot {

Decoded decode_png(const std::vector<std::uint8_t>& bytes) {
  Decoded picture;
  int channels = 0;
  unsigned char* data = stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()),
                                              &picture.width, &picture.height, &channels, 4);
  if (data == nullptr) throw std::runtime_error("not a PNG file");
  for (int i = 0; i < picture.width * picture.height; ++i) {
    picture.pixels.push_back({data[4 * i], data[4 * i + 1], data[4 * i + 2], data[4 * i + 3]});
  }
  stbi_image_free(data);
  return picture;
}

Decoded decode_png(const Canvas& canvas) { return decode_png(encode_png(canvas)); }

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool has_ink(const Decoded& picture, int left, int top, int right, int bottom, Colour paper) {
  for (int row = std::max(top, 0); row < std::min(bottom, picture.height); ++row) {
    for (int column = std::max(left, 0); column < std::min(right, picture.width); ++column) {
      if (picture.at(column, row) != paper) return true;
    }
  }
  return false;
}

bool has_clean_border(const Decoded& picture) {
  const int w = picture.width, h = picture.height;
  return !has_ink(picture, 0, 0, w, 1) && !has_ink(picture, 0, h - 1, w, h) &&
         !has_ink(picture, 0, 0, 1, h) && !has_ink(picture, w - 1, 0, w, h);
}

}  // namespace tapestry::plot
