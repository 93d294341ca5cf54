#include "tapestry/plot/png.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tapestry/error.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace tapestry::plot {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw Error("write_png: cannot write " + path.string() + ": " + reason);
}

// The checksum of PNG chunks (PNG specification, annex D), bit by bit.
std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

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
  append_big_endian(chunk, crc32(body));
  return chunk;
}

// An open file that is closed, and removed when it was not kept, at the end of its life.
class NewFile {
 public:
  NewFile(fs::path place, const fs::path& wanted, bool replace)
      : place_(std::move(place)), wanted_(wanted), temporary_(replace) {
    const int flags = O_WRONLY | O_CLOEXEC | (replace ? O_CREAT | O_TRUNC : 0);
    file_ = ::open(place_.c_str(), flags, 0666);
    if (file_ < 0) fail(wanted_, std::strerror(errno));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (temporary_) ::unlink(place_.c_str());
  }

  void write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(wanted_, std::strerror(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void keep() {
    if (temporary_ && ::fsync(file_) != 0) fail(wanted_, std::strerror(errno));
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0) fail(wanted_, std::strerror(errno));
    if (!temporary_) return;
    if (::rename(place_.c_str(), wanted_.c_str()) != 0) fail(wanted_, std::strerror(errno));
    temporary_ = false;
  }

 private:
  fs::path place_, wanted_;
  bool temporary_;
  int file_ = -1;
};

}  // namespace

std::vector<std::uint8_t> encode_png(const Canvas& canvas, double dots_per_inch) {
  const std::span<const Colour> pixels = canvas.pixels();
  const bool opaque =
      std::all_of(pixels.begin(), pixels.end(), [](Colour c) { return c.a == 255; });
  Bytes channels;
  channels.reserve(pixels.size() * (opaque ? 3 : 4));
  for (const Colour c : pixels) {
    channels.insert(channels.end(), {c.r, c.g, c.b});
    if (!opaque) channels.push_back(c.a);
  }
  int size = 0;
  const std::unique_ptr<unsigned char, decltype(&std::free)> encoded(
      stbi_write_png_to_mem(channels.data(), 0, canvas.pixel_width(), canvas.pixel_height(),
                            opaque ? 3 : 4, &size),
      &std::free);
  if (encoded == nullptr) throw Error("encode_png: out of memory");
  Bytes bytes(encoded.get(), encoded.get() + size);
  constexpr std::ptrdiff_t after_header = 8 + 25;  // signature, then the IHDR chunk
  const Bytes resolution = resolution_chunk(dots_per_inch);
  bytes.insert(bytes.begin() + after_header, resolution.begin(), resolution.end());
  return bytes;
}

void write_png(const Canvas& canvas, const std::filesystem::path& path, double dots_per_inch) {
  const Bytes bytes = encode_png(canvas, dots_per_inch);
  std::error_code problem;
  if (path.filename().empty()) fail(path, "the path names no file");
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), problem);
  if (problem) fail(path, problem.message());
  const fs::file_status status = fs::status(path, problem);
  if (fs::is_directory(status)) fail(path, "Is a directory");
  // Devices and pipes (/dev/stdout) are written to, never replaced.
  const bool replace = !fs::exists(status) || fs::is_regular_file(status);
  fs::path target = path;
  if (fs::is_symlink(path, problem)) target = fs::weakly_canonical(path, problem);
  if (target.empty()) fail(path, problem.message());
  fs::path place = target;
  if (replace) place += ".part" + std::to_string(::getpid());
  NewFile file(place, target, replace);
  file.write(bytes);
  file.keep();
}

}  // namespace tapestry::plot
