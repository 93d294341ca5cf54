#include "tapestry/plot/gif.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/palette.hpp"
#include "tapestry/error.hpp"
#include "temporary_folder.hpp"

namespace tapestry::plot {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A film as a viewer shows it: what each frame leaves on the screen.
struct Film {
  std::vector<Decoded> frames;
  std::vector<int> hundredths;  // how long each stands
  bool for_ever = false;
  std::size_t stored_pixels = 0;  // of all frames together, unchanged surroundings left out
};

struct Source {
  const Bytes& bytes;
  std::size_t at = 0;
};

int read(GifFileType* file, GifByteType* data, int count) {
  auto& source = *static_cast<Source*>(file->UserData);
  const int left = static_cast<int>(std::min<std::size_t>(count, source.bytes.size() - source.at));
  std::memcpy(data, source.bytes.data() + source.at, static_cast<std::size_t>(left));
  source.at += static_cast<std::size_t>(left);
  return left;
}

void lay_on(Decoded& screen, const SavedImage& image, const ColorMapObject& map, int transparent) {
  const GifImageDesc& box = image.ImageDesc;
  for (int row = 0; row < box.Height; ++row) {
    for (int column = 0; column < box.Width; ++column) {
      const int place = image.RasterBits[row * box.Width + column];
      if (place == transparent) continue;
      const GifColorType colour = map.Colors[place];
      screen.pixels.at(static_cast<std::size_t>(box.Top + row) * screen.width + box.Left +
                       column) = {colour.Red, colour.Green, colour.Blue};
    }
  }
}

// With giflib's decoder, which shares no code with its encoder beyond the tables.
Film decode_gif(const Bytes& bytes) {
  Source source{bytes};
  int error = 0;
  GifFileType* file = DGifOpen(&source, read, &error);
  if (file == nullptr) throw std::runtime_error("not a GIF file");
  if (DGifSlurp(file) != GIF_OK) throw std::runtime_error("a broken GIF file");
  Film film;
  Decoded screen{file->SWidth, file->SHeight, {}};
  screen.pixels.assign(static_cast<std::size_t>(screen.width) * screen.height, {1, 2, 3, 0});
  for (int i = 0; i < file->ImageCount; ++i) {
    GraphicsControlBlock control;
    REQUIRE(DGifSavedExtensionToGCB(file, i, &control) == GIF_OK);
    CHECK(control.DisposalMode == DISPOSE_DO_NOT);
    CHECK_FALSE(control.UserInputFlag);
    const SavedImage& image = file->SavedImages[i];
    film.stored_pixels += static_cast<std::size_t>(image.ImageDesc.Width) * image.ImageDesc.Height;
    lay_on(screen, image, *file->SColorMap, control.TransparentColor);
    film.frames.push_back(screen);
    film.hundredths.push_back(control.DelayTime);
  }
  const std::string loop("\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00", 19);
  film.for_ever = contains(std::string(bytes.begin(), bytes.end()), loop);
  CHECK(source.at == bytes.size());
  DGifCloseFile(file, &error);
  return film;
}

// A coloured square that walks to the right over stripes.
std::vector<Canvas> walking_square(int frames) {
  std::vector<Canvas> film;
  for (int k = 0; k < frames; ++k) {
    Canvas canvas(40, 12, 1);
    canvas.fill_rect({0, 3, 40, 4}, {10, 200, 30});
    canvas.fill_rect({2.0 + 3 * k, 2, 5, 7}, {201, 17, 99});
    film.push_back(canvas);
  }
  return film;
}

TEST_CASE("a decoded film has every frame, with every pixel in its place and colour",
          "[phase3][plot]") {
  const std::vector<Canvas> frames = walking_square(9);
  const Film film = decode_gif(encode_gif(frames, 0.25));
  REQUIRE(film.frames.size() == 9);
  for (std::size_t k = 0; k < 9; ++k) {
    REQUIRE(film.frames[k].width == 40);
    REQUIRE(film.frames[k].height == 12);
    const auto& pixels = frames[k].pixels();
    CHECK(film.frames[k].pixels == std::vector<Colour>(pixels.begin(), pixels.end()));
    CHECK(film.hundredths[k] == 25);
  }
  CHECK(film.for_ever);
  CHECK(decode_gif(encode_gif(frames, 2)).hundredths[1] == 200);
  // The first whole frame, then the 8 columns around each step.
  CHECK(film.stored_pixels == 40 * 12 + 8 * 8 * 7);
}

TEST_CASE("a film of one frame, of one pixel, or in which nothing moves", "[phase3][plot]") {
  const Film pixel = decode_gif(encode_gif({Canvas(1, 1, 1, {7, 8, 9})}));
  REQUIRE(pixel.frames.size() == 1);
  CHECK(pixel.frames[0].at(0, 0) == Colour{7, 8, 9});
  CHECK(pixel.hundredths[0] == 10);
  const Canvas still = walking_square(1)[0];
  const Film film = decode_gif(encode_gif({still, still, still}));
  REQUIRE(film.frames.size() == 3);
  CHECK(film.frames[2].pixels == film.frames[0].pixels);
  CHECK(film.stored_pixels == 40 * 12 + 2);
}

TEST_CASE("256 colours stay as they are", "[phase3][plot]") {
  Canvas canvas(256, 1, 1);
  for (int i = 0; i < 256; ++i) {
    const auto red = static_cast<std::uint8_t>(4 * (i % 64));
    const auto blue = static_cast<std::uint8_t>(60 * (i / 64));
    canvas.fill_rect({static_cast<double>(i), 0, 1, 1}, {red, 128, blue});
  }
  const Film film = decode_gif(encode_gif({canvas}));
  for (int i = 0; i < 256; ++i) CHECK(film.frames[0].at(i, 0) == canvas.pixel(i, 0));
}

TEST_CASE("a film with more than 256 colours loses only shades", "[phase3][plot]") {
  Canvas many(128, 128, 1);  // with a corner of paper
  for (int row = 0; row < 128; ++row) {
    for (int column = row < 20 ? 20 : 0; column < 128; ++column) {
      const auto red = static_cast<std::uint8_t>(2 * column);
      const auto green = static_cast<std::uint8_t>(2 * row);
      many.fill_rect({column + 0.0, row + 0.0, 1, 1}, {red, green, 60});
    }
  }
  const Film film = decode_gif(encode_gif({many}));
  double worst = 0;
  for (int row = 0; row < 128; ++row) {
    for (int column = 0; column < 128; ++column) {
      const Colour is = film.frames[0].at(column, row), was = many.pixel(column, row);
      worst = std::max(worst, std::hypot(is.r - was.r, is.g - was.g, is.b - was.b));
    }
  }
  CHECK(film.frames[0].at(0, 0) == white);
  // 256 equal squares of the 256 × 256 plane of colours would be 16 wide.
  CHECK(worst <= 24);
}

TEST_CASE("transparency of a film is laid on paper", "[phase3][plot]") {
  const Film film = decode_gif(encode_gif({Canvas(2, 2, 1, {0, 0, 0, 51})}));
  CHECK(film.frames[0].at(1, 1) == Colour{204, 204, 204});
  const Film nearly = decode_gif(encode_gif({Canvas(2, 2, 1, {0, 0, 0, 254})}));
  CHECK(nearly.frames[0].at(1, 1) == Colour{1, 1, 1});
}

TEST_CASE("a film begins as the standard of 1989 says", "[phase3][plot]") {
  const Bytes bytes = encode_gif({Canvas(3, 2, 1)});
  CHECK(Bytes(bytes.begin(), bytes.begin() + 13) ==
        Bytes{'G', 'I', 'F', '8', '9', 'a', 3, 0, 2, 0, 0xF7, 0, 0});
}

TEST_CASE("a frame stands from a fiftieth of a second to 655 seconds", "[phase3][plot]") {
  const auto hundredths = [](double seconds) {
    return decode_gif(encode_gif({Canvas(2, 2, 1)}, seconds)).hundredths[0];
  };
  CHECK(hundredths(0.02) == 2);
  CHECK(hundredths(655) == 65500);
}

TEST_CASE("a film is the same bytes every time", "[phase3][plot]") {
  std::vector<Canvas> frames(2, Canvas(60, 30, 2));
  frames[0].text({5, 20}, "Query", {14, {40, 90, 160}});
  frames[1].text({5, 20}, "key", {14, {160, 90, 40}});
  CHECK(encode_gif(frames) == encode_gif(frames));
}

TEST_CASE("write_gif writes the whole film or nothing", "[phase3][plot]") {
  const TemporaryFolder folder;
  const std::vector<Canvas> frames = walking_square(2);
  write_gif(frames, folder / "new" / "film.gif", 0.5);
  CHECK(read_bytes(folder / "new" / "film.gif") == encode_gif(frames, 0.5));
  CHECK(contains(words_of_error([&] { write_gif({}, folder / "new" / "film.gif"); }),
                 "there are no frames"));
  CHECK(read_bytes(folder / "new" / "film.gif") == encode_gif(frames, 0.5));
  const std::string error = words_of_error([&] { write_gif(frames, folder / "new"); });
  CHECK(contains(error, "write_gif: "));
  CHECK(contains(error, "it is a folder"));
  CHECK(contains(words_of_error([&] { write_gif(frames, "/dev/full"); }),
                 "/dev/full: No space left on device"));
}

TEST_CASE("a film says what does not fit together", "[phase3][plot]") {
  const auto words = [](const std::vector<Canvas>& frames, double seconds) {
    return words_of_error([&] { encode_gif(frames, seconds); });
  };
  CHECK(contains(words({}, 0.1), "there are no frames; give at least one"));
  CHECK(contains(words({Canvas(2, 2, 1), Canvas(2, 2, 1), Canvas(3, 2, 1)}, 0.1),
                 "frame 2 has 3 x 2 pixels, but frame 0 has 2 x 2"));
  CHECK(contains(words({Canvas(3, 2, 1), Canvas(3, 4, 1)}, 0.1),
                 "frame 1 has 3 x 4 pixels, but frame 0 has 3 x 2"));
  for (const double seconds : {0.0, -1.0, 0.01, 656.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(words({Canvas(2, 2, 1)}, seconds), "seconds per frame; choose 0.02 to 655"));
  }
}

TEST_CASE("a palette tells colours apart that fill much of the picture", "[phase3][plot]") {
  Palette palette;
  for (const int blue : {0, 40}) palette.count({0, 0, static_cast<std::uint8_t>(blue)});
  for (int i = 0; i < 10000; ++i) {
    for (const int blue : {0, 20}) palette.count({200, 0, static_cast<std::uint8_t>(blue)});
  }
  palette.choose(3);
  const auto shown = [&](Colour colour) { return palette.colours()[palette.place_of(colour)]; };
  CHECK(shown({200, 0, 0}) == Colour{200, 0, 0});
  CHECK(shown({200, 0, 20}) == Colour{200, 0, 20});
  CHECK(shown({0, 0, 0}) == Colour{0, 0, 20});  // the mean of the rare ones
}

TEST_CASE("a film's errors begin with the operation", "[phase3][plot]") {
  CHECK(words_of_error([] { encode_gif({}); }).starts_with("encode_gif: there are no frames"));
}

TEST_CASE("a palette keeps a colour that occurs once", "[phase3][plot]") {
  Palette palette;
  for (int i = 0; i < 5; ++i) palette.count({10, 20, 30});
  palette.count({200, 100, 0});
  palette.choose(256);
  REQUIRE(palette.colours().size() == 2);
  for (const Colour colour : {Colour{10, 20, 30}, Colour{200, 100, 0}}) {
    CHECK(palette.colours()[palette.place_of(colour)] == colour);
  }
}

std::vector<Colour> chosen(const std::vector<Colour>& counted, std::size_t most) {
  Palette palette;
  for (const Colour colour : counted) palette.count(colour);
  palette.choose(most);
  return palette.colours();
}

TEST_CASE("a palette of many colours is that of a second implementation", "[phase3][plot]") {
  std::vector<Colour> counted;
  for (int i = 0; i < 240; ++i) {
    counted.push_back({static_cast<std::uint8_t>((i * i * 7 + i * 37 + 11) % 251),
                       static_cast<std::uint8_t>((i * i * 3 + i * 91 + 60) % 199),
                       static_cast<std::uint8_t>((i * i * 13 + i * 5) % 241 / 2)});
  }
  CHECK(chosen(counted, 9) == std::vector<Colour>{{27, 50, 56},
                                                  {159, 57, 55},
                                                  {67, 154, 27},
                                                  {152, 151, 67},
                                                  {89, 40, 30},
                                                  {223, 56, 65},
                                                  {54, 150, 89},
                                                  {210, 153, 57},
                                                  {96, 57, 90}});
}

TEST_CASE("a palette joins four neighbouring levels, and no fifth", "[phase3][plot]") {
  CHECK(chosen({{0, 3, 0}, {3, 0, 1}, {3, 0, 4}}, 256) ==
        std::vector<Colour>{{2, 2, 1}, {3, 0, 4}});
}

TEST_CASE("a palette splits the first of equal groups, and its mean belongs to the lower part",
          "[phase3][plot]") {
  CHECK(chosen({{0, 0, 0}, {0, 0, 8}, {200, 0, 0}, {200, 0, 8}}, 3) ==
        std::vector<Colour>{{0, 0, 0}, {200, 0, 4}, {0, 0, 8}});
  const Colour once{0, 0, 0}, often{0, 0, 20}, last{0, 0, 40};
  CHECK(chosen({once, often, often, often, often, last}, 2) ==
        std::vector<Colour>{{0, 0, 13}, {0, 0, 40}});
}

}  // namespace
}  // namespace tapestry::plot
