// Reading PNG files; writing is in png.cpp. stb_image decodes; size and memory are limited here,
// before and while it does.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/unicode.hpp"

namespace {

// A few bytes can unpack to gigabytes: an allocation of the decoder is limited to the picture.
thread_local std::size_t most_bytes;

void* limited_malloc(std::size_t bytes) {
  return bytes <= most_bytes ? std::malloc(bytes) : nullptr;
}

void* limited_realloc(void* memory, std::size_t bytes) {
  return bytes <= most_bytes ? std::realloc(memory, bytes) : nullptr;
}

}  // namespace

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MALLOC(bytes) limited_malloc(bytes)
#define STBI_REALLOC(memory, bytes) limited_realloc(memory, bytes)
#define STBI_FREE(memory) std::free(memory)
#include <stb/stb_image.h>

namespace tapestry::plot {
namespace {

constexpr std::uint64_t most_pixels = std::uint64_t{1} << 26, longest_side = 32768;
constexpr std::size_t header_bytes = 26;  // with the signature, up to the colour type

struct Header {
  std::uint64_t width, height, depth, colour_type;
};

std::uint64_t big_endian(const std::uint8_t* bytes) {
  return std::uint64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

// The header of the file: always the first chunk after the signature.
Header read_header(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 16> start = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n',
                                                  0,    0,   0,   13,  'I',  'H',  'D',  'R'};
  const std::size_t known = std::min(bytes.size(), start.size());
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(known),
                  start.begin())) {
    throw Error("it is not a PNG file.");
  }
  if (bytes.size() < header_bytes) throw Error("it is too short to be a PNG file.");
  return {big_endian(&bytes[16]), big_endian(&bytes[20]), bytes[24], bytes[25]};
}

// Throws Error for a picture that is too large, or that so few bytes cannot hold. Returns the limit
// for one allocation of the decoder.
std::size_t allowed_bytes(const Header& header, std::uint64_t file_bytes) {
  const std::string size = std::to_string(header.width) + " × " + std::to_string(header.height);
  if (header.width == 0 || header.height == 0 || header.width > longest_side ||
      header.height > longest_side || header.width * header.height > most_pixels) {
    throw Error("it has " + size + " pixels: from 1 to 32768 on each side, and 2^26 in all, can " +
                "be read.");
  }
  if (header.depth == 16) throw Error("its channels have 16 bits. Save it with 8.");
  const std::uint64_t bits = header.depth * (header.colour_type == 2   ? 3
                                             : header.colour_type == 4 ? 2
                                             : header.colour_type == 6 ? 4
                                                                       : 1);
  const std::uint64_t packed = header.height * (1 + (header.width * bits + 7) / 8);
  if (packed / 1032 > file_bytes) {  // deflate compresses by 1032 at most
    throw Error("its " + size + " pixels cannot be in " + std::to_string(file_bytes) +
                " bytes: the file is cut off or damaged.");
  }
  // The packed picture (doubled where it is interlaced), the unpacked one, the file's own bytes.
  return static_cast<std::size_t>(2 * packed + 4 * header.width * header.height + 2 * file_bytes) +
         65536;
}

// The file without empty data chunks, which the decoder would copy through a null pointer.
std::vector<std::uint8_t> without_empty_data(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 8> empty = {0, 0, 0, 0, 'I', 'D', 'A', 'T'};
  constexpr std::size_t signature = 8, around = 12;  // length, name and checksum of a chunk
  std::vector<std::uint8_t> kept(bytes.begin(), bytes.begin() + signature);
  bytes = bytes.subspan(signature);
  while (bytes.size() >= empty.size()) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(around + big_endian(bytes.data()), bytes.size()));
    const auto chunk = bytes.first(size);
    if (!std::equal(empty.begin(), empty.end(), chunk.begin())) {
      kept.insert(kept.end(), chunk.begin(), chunk.end());
    }
    bytes = bytes.subspan(size);
  }
  kept.insert(kept.end(), bytes.begin(), bytes.end());
  return kept;
}

Image decode(std::span<const std::uint8_t> file, const Header& header) {
  most_bytes = allowed_bytes(header, file.size());
  const std::vector<std::uint8_t> bytes = without_empty_data(file);
  Image image;
  const std::unique_ptr<stbi_uc, decltype(&std::free)> values(
      stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &image.width,
                            &image.height, &image.channels, 0),
      &std::free);
  if (values == nullptr) {
    // The reason may contain the name of a chunk, any four bytes; some damage has none.
    const char* const reason = stbi_failure_reason();
    throw Error("it is cut off or damaged" +
                (reason == nullptr ? "" : " (" + in_quotes(reason) + ")") + ".");
  }
  const auto count = static_cast<std::size_t>(image.width) *
                     static_cast<std::size_t>(image.height) *
                     static_cast<std::size_t>(image.channels);
  image.values.assign(values.get(), values.get() + count);
  return image;
}

}  // namespace

Image read_png(const std::filesystem::path& path) {
  constexpr std::uint64_t most_file_bytes = 1 << 30;
  Image image;
  read_file("read_png", path, [&](std::ifstream& file, std::uint64_t file_bytes) {
    if (file_bytes > most_file_bytes) throw Error("it has more than 1 GiB.");
    std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(file_bytes, header_bytes));
    read_bytes(file, bytes.data(), bytes.size());
    const Header header = read_header(bytes);  // what is no PNG file is not read any further
    bytes.resize(static_cast<std::size_t>(file_bytes));
    read_bytes(file, bytes.data() + header_bytes, file_bytes - header_bytes);
    image = decode(bytes, header);
  });
  return image;
}

}  // namespace tapestry::plot
