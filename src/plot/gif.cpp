#include "tapestry/plot/gif.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "plot/palette.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"

namespace tapestry::plot {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t most_colours = 256;

int append(GifFileType* file, const GifByteType* data, int count) {
  auto& bytes = *static_cast<Bytes*>(file->UserData);
  bytes.insert(bytes.end(), data, data + count);
  return count;
}

// giflib's encoder, writing into memory.
class Encoder {
 public:
  explicit Encoder(Bytes& bytes) {
    file_ = EGifOpen(&bytes, append, nullptr);
    if (file_ == nullptr) fail(E_GIF_ERR_NOT_ENOUGH_MEM);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { EGifCloseFile(file_, nullptr); }  // which does nothing without a file

  void begin(int width, int height, const std::vector<Colour>& colours) {
    std::vector<GifColorType> table(most_colours);
    std::transform(colours.begin(), colours.end(), table.begin(),
                   [](Colour c) { return GifColorType{c.r, c.g, c.b}; });
    const std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)> map(
        GifMakeMapObject(static_cast<int>(most_colours), table.data()), &GifFreeMapObject);
    if (map == nullptr) throw Error("encode_gif: out of memory. Draw a smaller picture.");
    EGifSetGifVersion(file_, true);
    check(EGifPutScreenDesc(file_, width, height, 8, 0, map.get()));
    // Netscape's extension: loop, 0 times means without end.
    const GifByteType loop[] = {1, 0, 0};
    check(EGifPutExtensionLeader(file_, APPLICATION_EXT_FUNC_CODE));
    check(EGifPutExtensionBlock(file_, 11, "NETSCAPE2.0"));
    check(EGifPutExtensionBlock(file_, 3, loop));
    check(EGifPutExtensionTrailer(file_));
  }

  // Part of a frame, at (left, top); it stays on the screen when its time is over.
  void add(int left, int top, int width, Bytes& places, int hundredths) {
    const GraphicsControlBlock control{DISPOSE_DO_NOT, false, hundredths, NO_TRANSPARENT_COLOR};
    GifByteType block[4];
    EGifGCBToExtension(&control, block);
    check(EGifPutExtension(file_, GRAPHICS_EXT_FUNC_CODE, 4, block));
    const int height = static_cast<int>(places.size()) / width;
    check(EGifPutImageDesc(file_, left, top, width, height, false, nullptr));
    for (int row = 0; row < height; ++row) {
      check(EGifPutLine(file_, places.data() + static_cast<std::size_t>(row) * width, width));
    }
  }

  void end() {
    int error = E_GIF_ERR_CLOSE_FAILED;
    GifFileType* file = file_;
    file_ = nullptr;
    if (EGifCloseFile(file, &error) != GIF_OK) fail(error);
  }

 private:
  void check(int result) const {
    if (result != GIF_OK) fail(file_->Error);
  }
  [[noreturn]] static void fail(int error) {
    const char* words = GifErrorString(error);
    throw Error(std::string("encode_gif: giflib: ") + (words != nullptr ? words : "unknown error"));
  }

  GifFileType* file_ = nullptr;
};

void check_film(const std::vector<Canvas>& frames, double seconds) {
  if (frames.empty()) throw Error("encode_gif: there are no frames; give at least one");
  if (!(seconds >= 0.02 && seconds <= 655)) {
    throw Error(formatted("encode_gif: %g seconds per frame; choose 0.02 to 655", seconds));
  }
  const Canvas& first = frames[0];
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const Canvas& other = frames[i];
    if (other.pixel_width() == first.pixel_width() && other.pixel_height() == first.pixel_height())
      continue;
    throw Error(formatted(
        "encode_gif: frame %zu has %d x %d pixels, but frame 0 has %d x %d; all "
        "need one size",
        i, other.pixel_width(), other.pixel_height(), first.pixel_width(), first.pixel_height()));
  }
}

Colour on_paper(Colour colour) {
  if (colour.a == 255) return colour;
  return mix(theme::paper, {colour.r, colour.g, colour.b}, colour.a / 255.0);
}

Bytes places_of(const Canvas& frame, const Palette& palette) {
  Bytes places;
  for (const Colour colour : frame.pixels()) places.push_back(palette.place_of(on_paper(colour)));
  return places;
}

// Writes the smallest rectangle where `now` differs from `before`; one pixel if they are equal.
void add_changes(Encoder& encoder, const Bytes& before, const Bytes& now, int width,
                 int hundredths) {
  const int height = static_cast<int>(now.size()) / width;
  int left = width, top = height, right = 0, bottom = 0;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const std::size_t at = static_cast<std::size_t>(row) * width + column;
      if (!before.empty() && before[at] == now[at]) continue;
      left = std::min(left, column);
      right = std::max(right, column + 1);
      top = std::min(top, row);
      bottom = row + 1;
    }
  }
  if (left >= right) left = top = 0, right = bottom = 1;
  // Transparent unchanged pixels inside it made 3-D charts 15 % larger.
  Bytes changes;
  for (int row = top; row < bottom; ++row) {
    const auto start = now.begin() + static_cast<std::ptrdiff_t>(row) * width;
    changes.insert(changes.end(), start + left, start + right);
  }
  encoder.add(left, top, right - left, changes, hundredths);
}

}  // namespace

std::vector<std::uint8_t> encode_gif(const std::vector<Canvas>& frames, double seconds) {
  check_film(frames, seconds);
  Palette palette;
  for (const Canvas& frame : frames) {
    for (const Colour colour : frame.pixels()) palette.count(on_paper(colour));
  }
  palette.choose(most_colours);
  Bytes bytes;
  Encoder encoder(bytes);
  const int width = frames[0].pixel_width();
  encoder.begin(width, frames[0].pixel_height(), palette.colours());
  Bytes before;
  for (const Canvas& frame : frames) {
    Bytes now = places_of(frame, palette);
    add_changes(encoder, before, now, width, static_cast<int>(std::lround(100 * seconds)));
    before = std::move(now);
  }
  encoder.end();
  return bytes;
}

void write_gif(const std::vector<Canvas>& frames, const std::filesystem::path& path,
               double seconds) {
  const Bytes bytes = encode_gif(frames, seconds);
  write_file_atomically("write_gif", path, std::as_bytes(std::span(bytes)));
}

}  // namespace tapestry::plot
