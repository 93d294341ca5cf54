#include "tapestry/plot/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>

#include "plot/png_bytes.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace tapestry::plot {
namespace {

using Bytes = std::vector<std::uint8_t>;

void append_big_endian(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

// The chunk that states the resolution, in pixels per metre.
Bytes resolution_chunk(double dots_per_inch) {
  const auto per_metre = static_cast<std::uint32_t>(std::lround(dots_per_inch / 0.0254));
  Bytes body{'p', 'H', 'Y', 's'};
  append_big_endian(body, per_metre);
  append_big_endian(body, per_metre);
  body.push_back(1);  // the unit is the metre
  Bytes chunk;
  append_big_endian(chunk, static_cast<std::uint32_t>(body.size() - 4));
  chunk.insert(chunk.end(), body.begin(), body.end());
  append_big_endian(
      chunk, static_cast<std::uint32_t>(crc32(0, body.data(), static_cast<uInt>(body.size()))));
  return chunk;
}

}  // namespace

// The encoder counts bytes in int. What it compresses may become an eighth longer, in a buffer that
// grows by doubling: beyond this, the buffer could outgrow INT_MAX.
void check_png_size(std::int64_t width, std::int64_t height, std::int64_t channels) {
  constexpr std::int64_t most_bytes = 1'400'000'000;
  if ((width * channels + 1) * height <= most_bytes) return;
  throw Error("encode_png: " + std::to_string(width) + " x " + std::to_string(height) +
              " pixels are too many for a PNG. Draw a smaller picture, or at a lower scale.");
}

Bytes png_bytes(std::span<const Colour> pixels, int width, int height) {
  const bool opaque =
      std::all_of(pixels.begin(), pixels.end(), [](Colour c) { return c.a == 255; });
  const int count = opaque ? 3 : 4;
  check_png_size(width, height, count);
  Bytes channels(pixels.size() * static_cast<std::size_t>(count));
  std::uint8_t* next = channels.data();
  for (const Colour c : pixels) {
    *next++ = c.r;
    *next++ = c.g;
    *next++ = c.b;
    if (!opaque) *next++ = c.a;
  }
  int size;
  const std::unique_ptr<unsigned char, decltype(&std::free)> encoded(
      stbi_write_png_to_mem(channels.data(), 0, width, height, count, &size), &std::free);
  if (encoded == nullptr) throw Error("encode_png: out of memory. Draw a smaller picture.");
  return Bytes(encoded.get(), encoded.get() + size);
}

Bytes encode_png(const Canvas& canvas, double dots_per_inch) {
  Bytes bytes = png_bytes(canvas.pixels(), canvas.pixel_width(), canvas.pixel_height());
  constexpr std::ptrdiff_t after_header = 8 + 25;  // signature, then the IHDR chunk
  const Bytes resolution = resolution_chunk(dots_per_inch);
  bytes.insert(bytes.begin() + after_header, resolution.begin(), resolution.end());
  return bytes;
}

void write_png(const Canvas& canvas, const std::filesystem::path& path, double dots_per_inch) {
  const Bytes bytes = encode_png(canvas, dots_per_inch);
  write_file_atomically("write_png", path, std::as_bytes(std::span(bytes)));
}

}  // namespace tapestry::plot
