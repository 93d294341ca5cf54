// The words around a heatmap: each stands where it belongs, and says what it should.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/frame.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry::plot {
namespace {

struct Box {  // of pixels
  int left = 1 << 20, top = 1 << 20, right = -1, bottom = -1;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
  double middle() const { return (left + right) / 2.0; }
  double centre() const { return (top + bottom) / 2.0; }
};

// The box of all pixels of which `wanted` is true.
template <class Wanted>
Box box_of(const Decoded& picture, Wanted wanted) {
  Box box;
  for (int row = 0; row < picture.height; ++row) {
    for (int column = 0; column < picture.width; ++column) {
      if (!wanted(column, row)) continue;
      box.left = std::min(box.left, column);
      box.right = std::max(box.right, column + 1);
      box.top = std::min(box.top, row);
      box.bottom = std::max(box.bottom, row + 1);
    }
  }
  return box;
}

// Where two pictures of one size differ.
Box changed(const Decoded& one, const Decoded& other) {
  REQUIRE((one.width == other.width && one.height == other.height));
  return box_of(one, [&](int x, int y) { return one.at(x, y) != other.at(x, y); });
}

std::vector<Colour> cut(const Decoded& picture, const Box& box) {
  std::vector<Colour> pixels;
  for (int row = box.top; row < box.bottom; ++row) {
    for (int column = box.left; column < box.right; ++column) {
      pixels.push_back(picture.at(column, row));
    }
  }
  return pixels;
}

// Three rows and four columns of one colour; labels are words without ink below the line.
Heatmap plain(const std::string& word) {
  Heatmap map;
  map.rows = 3;
  map.columns = 4;
  map.values.assign(12, 0.5);
  map.low = 0;
  map.high = 1;
  map.print = PrintValues::never;
  map.colour_bar = false;
  map.row_labels.assign(3, word);
  map.column_labels.assign(4, word);
  map.row_axis = map.column_axis = " ";  // room, and no ink
  return map;
}

Decoded pixels_of(const Canvas& canvas) {
  return {canvas.pixel_width(),
          canvas.pixel_height(),
          {canvas.pixels().begin(), canvas.pixels().end()}};
}

Decoded picture_of(const Heatmap& map) { return pixels_of(render(map)); }

Box cells_of(const Heatmap& map) {
  const Decoded picture = picture_of(map);
  const Colour cell = colour_at(map.colours, 0.5);
  return box_of(picture, [&](int x, int y) { return picture.at(x, y) == cell; });
}

TEST_CASE("the word of a row stands at the middle of its row", "[phase1][plot]") {
  for (const std::string word : {"H", "HHHH"}) {
    const Heatmap map = plain(word);
    const Box cells = cells_of(map);
    const double pitch = cells.height() / 3.0;
    REQUIRE(pitch > 100);
    for (std::size_t i = 0; i < 3; ++i) {
      Heatmap without = map;
      without.row_labels[i] = "";
      const Box ink = changed(picture_of(map), picture_of(without));
      CAPTURE(word, i);
      CHECK(std::abs(ink.centre() - (cells.top + (double(i) + 0.5) * pitch)) <= 1);
      CHECK(std::abs(ink.height() - 2 * 0.73 * type::label) <= 2);  // of capital letters
      CHECK((cells.left - 24 < ink.right && ink.right < cells.left - 12));
    }
  }
}

TEST_CASE("the word of a column stands at its middle, flat or upright", "[phase1][plot]") {
  for (const std::string word : {"H", "HHHHHHHH"}) {
    const Heatmap map = plain(word);
    const Box cells = cells_of(map);
    const double pitch = cells.width() / 4.0;
    REQUIRE(pitch > 100);
    for (std::size_t j = 0; j < 4; ++j) {
      Heatmap without = map;
      without.column_labels[j] = "";
      const Box ink = changed(picture_of(map), picture_of(without));
      CAPTURE(word, j);
      CHECK(std::abs(ink.middle() - (cells.left + (double(j) + 0.5) * pitch)) <= 1);
      CHECK((cells.bottom + 8 < ink.top && ink.top < cells.bottom + 24));
      CHECK((ink.height() > 60) == (word.size() > 1));
    }
  }
}

TEST_CASE("rows are named at the left, columns below, in these very words", "[phase1][plot]") {
  const Heatmap blank = plain("");
  const Decoded before = picture_of(blank);
  const Box cells = cells_of(blank);
  for (const std::string name : {"query (rows)", "key (columns)"}) {
    for (const bool rows : {true, false}) {
      CAPTURE(name, rows);
      Heatmap named = blank;
      (rows ? named.row_axis : named.column_axis) = name;
      const Decoded after = picture_of(named);
      const Box ink = changed(after, before);
      Canvas canvas(400, 400);
      canvas.text(canvas.area().centre(), name,
                  {type::label, theme::faded, false, Align::centre, VerticalAlign::middle,
                   rows ? 90.0 : 0.0});
      const Decoded word = pixels_of(canvas);
      const Box alone = box_of(word, [&](int x, int y) { return word.at(x, y) != theme::paper; });
      CHECK(cut(after, ink) == cut(word, alone));
      if (rows) CHECK((ink.right < cells.left && ink.left < cells.left - 40));
      if (rows) CHECK(std::abs(ink.centre() - cells.centre()) <= 2);
      if (!rows) CHECK(ink.top > cells.bottom + 40);
      if (!rows) CHECK(std::abs(ink.middle() - cells.middle()) <= 2);
    }
  }
}

}  // namespace
}  // namespace tapestry::plot
