// Reading PNG files: those that write_png writes, and files put together by hand.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "plot/decoded.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "temporary_folder.hpp"

namespace tapestry::plot {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string big_endian(std::uint64_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255);
  return text;
}

std::string chunk(const std::string& name, const std::string& body) {
  return big_endian(body.size()) + name + body + big_endian(0);  // no checksum
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// The signature and what a file says of itself.
std::string header(std::uint64_t width, std::uint64_t height, int depth, int colour_type) {
  std::string body = big_endian(width) + big_endian(height);
  for (const int byte : {depth, colour_type, 0, 0, 0}) body += static_cast<char>(byte);
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", body);
}

// Rows, each with a filter byte before it, packed without being compressed.
std::string packed_rows(const Bytes& bytes) {
  const auto low = static_cast<std::uint8_t>(bytes.size());
  const auto high = static_cast<std::uint8_t>(bytes.size() >> 8);
  const Bytes before = {0x78, 0x01, 1, low, high, std::uint8_t(~low), std::uint8_t(~high)};
  return text_of(before) + text_of(bytes) + big_endian(0);
}

std::string rows(const Bytes& bytes) {
  return chunk("IDAT", packed_rows(bytes)) + chunk("IEND", "");
}

Image read(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.png", std::ios::binary) << bytes;
  return read_png(folder / "a.png");
}

std::string refused(const std::string& bytes, std::initializer_list<const char*> words) {
  const std::string problem = complaint([&] { read(bytes); }, words);
  return problem.empty() ? complaint([&] { read(bytes); }, {"read_png: ", "a.png: "}) : problem;
}

Canvas four_colours(std::uint8_t alpha) {
  Canvas canvas(2, 2, 1, {0, 0, 0, 0});
  for (int i = 0; i < 4; ++i) {
    const auto red = static_cast<std::uint8_t>(60 * i);
    canvas.fill_rect({static_cast<double>(i % 2), static_cast<double>(i / 2), 1, 1},
                     {red, 17, 255, alpha});
  }
  return canvas;
}

}  // namespace

TEST_CASE("what write_png writes, read_png reads", "[phase0][plot]") {
  const TemporaryFolder folder;
  write_png(four_colours(255), folder / "rgb.png");
  const Image rgb = read_png(folder / "rgb.png");
  CHECK(rgb.width == 2);
  CHECK(rgb.height == 2);
  CHECK(rgb.channels == 3);
  CHECK(rgb.values == Bytes{0, 17, 255, 60, 17, 255, 120, 17, 255, 180, 17, 255});

  Canvas picture(40, 30, 2);
  picture.text({3, 20}, "Tapestry");
  picture.fill_circle({30, 10}, 7, {200, 10, 10});
  Canvas faint(31, 7, 1, {255, 0, 0, 40});
  for (const Canvas& canvas : {picture, faint}) {
    write_png(canvas, folder / "a.png");
    const Image image = read_png(folder / "a.png");
    REQUIRE(image.width == canvas.pixel_width());
    REQUIRE(image.height == canvas.pixel_height());
    CHECK(image.channels == (image.height == 7 ? 4 : 3));
    Bytes expected;
    for (const Colour c : canvas.pixels()) {
      expected.insert(expected.end(), {c.r, c.g, c.b});
      if (image.channels == 4) expected.push_back(c.a);
    }
    CHECK(image.values == expected);
  }
}

TEST_CASE("grey, alpha, few bits and palettes are read", "[phase0][plot]") {
  const Image grey = read(header(3, 2, 8, 0) + rows({0, 1, 2, 3, 2, 10, 20, 252}));
  CHECK(grey.channels == 1);  // the second row is told as what it adds to the first
  CHECK(grey.values == Bytes{1, 2, 3, 11, 22, 255});
  CHECK(read(header(2, 1, 8, 0) + chunk("IDAT", "") + rows({0, 7, 8})).values == Bytes{7, 8});
  const Image faint = read(header(2, 1, 8, 4) + rows({0, 9, 128, 8, 255}));
  CHECK(faint.channels == 2);
  CHECK(faint.values == Bytes{9, 128, 8, 255});
  CHECK(read(header(9, 1, 1, 0) + rows({0, 0b10110000, 0b10000000})).values ==
        Bytes{255, 0, 255, 255, 0, 0, 0, 0, 255});
  CHECK(read(header(1, 2, 1, 0) + rows({0, 0b10000000, 0, 0})).values == Bytes{255, 0});
  const std::string palette = chunk("PLTE", {"\x01\x02\x03\xFF\xFE\xFD", 6});
  const Image painted = read(header(3, 1, 8, 3) + palette + rows({0, 1, 0, 1}));
  CHECK(painted.channels == 3);
  CHECK(painted.values == Bytes{255, 254, 253, 1, 2, 3, 255, 254, 253});
}

TEST_CASE("the data of a PNG may come in pieces of any length", "[phase0][plot]") {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{256}, std::size_t{1} << 16, std::size_t{1} << 24}) {
    CAPTURE(length);
    std::string data = packed_rows({0, 7, 8});
    data.resize(std::max(data.size(), length + 1));  // what follows the end of it is ignored
    const std::string pieces =
        chunk("IDAT", data.substr(0, length)) + chunk("IDAT", data.substr(length));
    CHECK(read(header(2, 1, 8, 0) + pieces + chunk("IEND", "")).values == Bytes{7, 8});
  }
}

TEST_CASE("a large picture may be unpacked to four channels", "[phase0][plot]") {
  const Bytes row(1 + 88);  // filter byte, and 700 pixels of one bit
  Bytes all;
  for (int i = 0; i < 700; ++i) all.insert(all.end(), row.begin(), row.end());
  const std::string palette = chunk("PLTE", {"\x01\x02\x03\xFF\xFE\xFD", 6});
  const Image painted = read(header(700, 700, 1, 3) + palette + chunk("tRNS", "\x80") + rows(all));
  REQUIRE(painted.channels == 4);
  CHECK(painted.values.size() == 4 * 700 * 700);
  CHECK(Bytes(painted.values.end() - 4, painted.values.end()) == Bytes{1, 2, 3, 0x80});
  const TemporaryFolder folder;
  write_png(Canvas(400, 300, 1, {1, 2, 3}), folder / "a.png");
  CHECK(read_png(folder / "a.png").values.size() == 3 * 400 * 300);
}

TEST_CASE("a PNG file has at most 1 GiB, and what is none is not read to its end",
          "[phase0][plot]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.png") << "nothing";
  const auto words = [&](std::uintmax_t bytes) {
    std::filesystem::resize_file(folder / "a.png", bytes);  // takes no room on the disk
    return words_of_error([&] { read_png(folder / "a.png"); });
  };
  CHECK(contains(words(std::uintmax_t{1} << 30), "it is not a PNG file"));
  CHECK(contains(words((std::uintmax_t{1} << 30) + 1), "it has more than 1 GiB"));
}

TEST_CASE("a picture becomes a tensor from 0 to 1", "[phase0][plot]") {
  const Tensor tensor = image_tensor({2, 1, 3, {0, 51, 255, 102, 0, 255}});
  CHECK(difference(tensor, {1, 2, 3}, {0, 0.2, 1, 0.4, 0, 1}) == "");
  CHECK(complaint([] { image_tensor({2, 1, 3, {0, 51, 255}}); }, {"3 values"}) == "");
}

TEST_CASE("what is no PNG of 8 bits is refused in one line", "[phase0][plot]") {
  const std::string whole = header(2, 1, 8, 0) + rows({0, 7, 8});
  CHECK(read(whole).values == Bytes{7, 8});
  CHECK(refused("", {"too short"}) == "");
  CHECK(refused(whole.substr(0, 25), {"too short"}) == "");
  CHECK(refused(whole.substr(0, 26), {"damaged"}) == "");
  CHECK(refused("GIF89a and more", {"not a PNG file"}) == "");
  CHECK(refused("\xFF\xD8\xFF\xE0", {"not a PNG file"}) == "");
  CHECK(refused(header(2, 1, 16, 0) + rows({0, 7, 7, 8, 8}), {"16 bits", "Save it with 8"}) == "");
  CHECK(refused(header(2, 1, 5, 0) + rows({0, 7, 8}), {"damaged"}) == "");
  CHECK(refused(header(2, 1, 8, 7) + rows({0, 7, 8}), {"damaged"}) == "");
  CHECK(refused(header(2, 1, 8, 0) + rows({9, 7, 8}), {"damaged"}) == "");  // no such filter
  CHECK(refused(header(2, 1, 8, 3) + rows({0, 0, 0}), {"damaged"}) == "");  // no palette
  CHECK(refused(header(2, 1, 8, 0) + chunk("A\nB\xFF", ""), {"damaged ('A?B? PNG chunk"}) == "");
  CHECK(refused(header(2, 1, 8, 0) + chunk("IDAT", "").substr(0, 10), {"damaged"}) == "");
  CHECK(refused(header(2, 2, 8, 0) + rows({0, 7, 8}), {"cut off or damaged"}) == "");
  // A chunk of four billion bytes: the decoder gives no reason.
  CHECK(refused(header(2, 2, 8, 6) + "\xf9\xff\xff\x14"
                                     "IDATx",
                {"cut off or damaged"}) == "");
  for (std::size_t size = 1; size + 16 < whole.size(); ++size) {  // the end chunk may be missing
    CAPTURE(size);
    CHECK(complaint([&] { read(whole.substr(0, size)); }, {"a.png: it is"}) == "");
  }
  CHECK(complaint([] { read_png("/nowhere/a.png"); }, {"a.png: there is no such file"}) == "");
}

TEST_CASE("a PNG of absurd size is refused before memory is asked for", "[phase0][plot]") {
  const auto sized = [](std::uint64_t width, std::uint64_t height) {
    return header(width, height, 8, 6) + rows({0, 7, 8});
  };
  CHECK(refused(sized(0, 1), {"0 × 1 pixels", "from 1 to 32768"}) == "");
  CHECK(refused(sized(1, 0), {"1 × 0 pixels"}) == "");
  CHECK(refused(sized(32769, 1), {"it has 32769 × 1 pixels"}) == "");
  CHECK(refused(sized(1, 32769), {"it has 1 × 32769 pixels"}) == "");
  CHECK(refused(sized(0x01020304, 1), {"it has 16909060 × 1 pixels"}) == "");
  CHECK(refused(header(32768, 1, 1, 0) + rows({0, 7, 8}), {"damaged"}) == "");
  CHECK(refused(header(1, 32768, 1, 0) + rows({0, 7, 8}), {"damaged"}) == "");
  CHECK(refused(sized(1, 4294967295), {"1 × 4294967295 pixels"}) == "");
  CHECK(refused(sized(32768, 32768), {"2^26 in all"}) == "");
  CHECK(refused(sized(8192, 8192), {"8192 × 8192 pixels cannot be in"}) == "");
  CHECK(refused(sized(8193, 8192), {"2^26 in all"}) == "");
}

// Deflate makes 1032 bytes of one at most, so that fewer than 72 * 1032 unpacked ones are in 71.
TEST_CASE("a PNG of fewer bytes than its pixels need is refused by what a pixel takes",
          "[phase0][plot]") {
  const auto is_refused = [](std::uint64_t width, std::uint64_t height, int depth, int type) {
    const std::string file = header(width, height, depth, type) + rows({0, 7, 8});
    CHECK(file.size() == 71);
    return refused(file, {"pixels cannot be in 71 bytes"}) == "";
  };
  for (const auto& [type, channels] : {std::pair{0, 1}, {2, 3}, {3, 1}, {4, 2}, {6, 4}}) {
    CAPTURE(type);
    const auto rows_needed = static_cast<std::uint64_t>(72 * 1032 / (1 + 1000 * channels) + 1);
    CHECK(is_refused(1000, rows_needed, 8, type));
    CHECK(!is_refused(1000, rows_needed - 1, 8, type));
  }
  CHECK(is_refused(18575, 4, 8, 0));  // 72 * 1032 bytes
  CHECK(!is_refused(18574, 4, 8, 0));
  for (const std::uint64_t width : {9, 16}) {  // bits, in two bytes
    CHECK(is_refused(width, 24 * 1032, 1, 0));
    CHECK(!is_refused(width, 24 * 1032 - 1, 1, 0));
  }
}

// A picture of one pixel, and behind it in the same stream 67 MB of zeros: 0.4 MB as a file.
TEST_CASE("a PNG unpacks to no more than its picture needs", "[phase0][plot]") {
  std::string bits;  // deflate by its fixed code: a literal 0, then runs of 258
  const auto code = [&](const std::string& text) { bits += text; };
  code("110");       // last block, fixed code (1, then 01 from its lowest bit on)
  code("00110000");  // literal 0
  for (int i = 0; i < 260000; ++i) code("1100010100000");  // run of 258, from 1 before
  code("0000000");
  std::string packed = "\x78\x01";
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    int byte = 0;
    for (std::size_t k = 0; k < 8 && i + k < bits.size(); ++k) byte |= (bits[i + k] - '0') << k;
    packed += static_cast<char>(byte);
  }
  CHECK(refused(header(1, 1, 8, 0) + chunk("IDAT", packed) + chunk("IEND", ""),
                {"cut off or damaged ('outofmem'"}) == "");
}

}  // namespace tapestry::plot
