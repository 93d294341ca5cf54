#include "tapestry/plot/png.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/png_bytes.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {

namespace {

namespace fs = std::filesystem;

// A folder of its own, gone with the test.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tapestry_png_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

// The letter F in a corner, each pixel of another colour: flips, transposition and a swap of
// channels all show.
Canvas letter_f() {
  Canvas canvas(7, 9, 1);
  const char* rows[] = {"####", "#", "###", "#", "#"};
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; rows[row][column] != '\0'; ++column) {
      const auto red = static_cast<std::uint8_t>(200 - 10 * row);
      const auto blue = static_cast<std::uint8_t>(20 * column);
      canvas.fill_rect({1.0 + column, 2.0 + row, 1, 1}, {red, 17, blue});
    }
  }
  return canvas;
}

TEST_CASE("a decoded PNG has every pixel in its place and colour", "[phase0][plot]") {
  const Decoded picture = decode_png(letter_f());
  REQUIRE(picture.width == 7);
  REQUIRE(picture.height == 9);
  CHECK(picture.at(0, 0) == white);
  CHECK(picture.at(1, 2) == Colour{200, 17, 0});
  CHECK(picture.at(4, 2) == Colour{200, 17, 60});
  CHECK(picture.at(3, 4) == Colour{180, 17, 40});
  CHECK(picture.at(4, 4) == white);
  CHECK(picture.at(1, 6) == Colour{160, 17, 0});
  CHECK(picture.at(2, 6) == white);
  CHECK(picture.at(1, 7) == white);
}

TEST_CASE("a PNG keeps transparency", "[phase0][plot]") {
  Canvas canvas(3, 2, 1, {10, 20, 30, 0});
  canvas.fill_rect({1, 0, 1, 1}, {200, 100, 50, 128});
  const Decoded picture = decode_png(canvas);
  constexpr std::size_t kind = 25;  // the place of the kind of pixels: 2 without, 6 with opacity
  CHECK(encode_png(canvas)[kind] == 6);
  CHECK(encode_png(letter_f())[kind] == 2);
  CHECK(picture.at(0, 0).a == 0);
  CHECK(picture.at(1, 0) == Colour{200, 100, 50, 128});
}

TEST_CASE("the same canvas gives the same bytes, which state the resolution", "[phase0][plot]") {
  const std::vector<std::uint8_t> bytes = encode_png(letter_f());
  CHECK(bytes == encode_png(letter_f()));
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t chunk = text.find("pHYs");
  REQUIRE(chunk == 8 + 25 + 4);
  // 300 dots per inch are 11811 per metre; the checksum is that of an independent implementation.
  const std::vector<std::uint8_t> expected{0x00, 0x00, 0x2E, 0x23, 0x00, 0x00, 0x2E,
                                           0x23, 0x01, 0x78, 0xA5, 0x3F, 0x76};
  const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(chunk) + 4;
  CHECK(std::vector<std::uint8_t>(start, start + 13) == expected);
}

TEST_CASE("a picture with more bytes than the encoder can count is refused", "[phase0][plot]") {
  const auto said = [](std::int64_t width, std::int64_t height, std::int64_t channels) {
    return words_of_error([&] { check_png_size(width, height, channels); });
  };
  CHECK(said(9, 50'000'000, 3) == "");  // each row has a byte more
  CHECK(said(9, 50'000'001, 3) != "");
  CHECK(said(6, 56'000'000, 4) == "");
  CHECK(said(350'000'000, 1, 4) != "");
  for (const std::int64_t channels : {3, 4}) {
    CHECK(said(32768, 32768, channels) ==
          "encode_png: 32768 x 32768 pixels are too many for a PNG. Draw a smaller picture, or at "
          "a lower scale.");
  }
  // Refused before more than one pixel is read.
  const std::vector<Colour> one(1);
  CHECK(contains(words_of_error([&] { png_bytes(one, 32768, 32768); }), "too many for a PNG"));
}

TEST_CASE("write_png makes folders, replaces old files and leaves nothing else", "[phase0][plot]") {
  const Folder folder;
  const fs::path path = folder.path / "new" / "deep" / "f.png";
  write_png(letter_f(), path);
  CHECK(read_bytes(path) == encode_png(letter_f()));
  write_png(Canvas(2, 2, 1), path);
  CHECK(decode_png(read_bytes(path)).width == 2);
  const auto entries = fs::directory_iterator(path.parent_path());
  CHECK(std::distance(fs::begin(entries), fs::end(entries)) == 1);
}

TEST_CASE("write_png follows a link instead of replacing it", "[phase0][plot]") {
  const Folder folder;
  fs::create_symlink("real.png", folder.path / "link.png");
  std::ofstream(folder.path / "real.png") << "old";
  write_png(letter_f(), folder.path / "link.png");
  CHECK(fs::is_symlink(folder.path / "link.png"));
  CHECK(decode_png(read_bytes(folder.path / "real.png")).width == 7);
}

TEST_CASE("write_png names the path and the reason when it cannot write", "[phase0][plot]") {
  const Folder folder;
  const Canvas canvas(2, 2, 1);
  const auto words = [&](const fs::path& path) {
    return words_of_error([&] { write_png(canvas, path); });
  };
  SECTION("a folder stands there") {
    CHECK(contains(words(folder.path), folder.path.string() + ": it is a folder"));
  }
  SECTION("a file stands where a folder is needed") {
    std::ofstream(folder.path / "file") << "x";
    const std::string error = words(folder.path / "file" / "f.png");
    CHECK(contains(error, "cannot write " + (folder.path / "file" / "f.png").string()));
    CHECK(contains(error, "Not a directory"));
  }
  SECTION("the disk is full") {
    REQUIRE(fs::exists("/dev/full"));
    CHECK(contains(words("/dev/full"), "/dev/full: No space left on device"));
    CHECK(fs::is_character_file("/dev/full"));  // written to, not replaced
  }
  SECTION("the folder may not be written") {
    ::chmod(folder.path.c_str(), 0555);
    const bool may = ::access(folder.path.c_str(), W_OK) == 0;  // root may do anything
    CHECK((may || contains(words(folder.path / "f.png"), "Permission denied")));
    ::chmod(folder.path.c_str(), 0755);
  }
  SECTION("no name") { CHECK(contains(words(folder.path / ""), "the path names no file")); }
}

}  // namespace
}  // namespace tapestry::plot
