#include "tapestry/plot/heatmap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Only cells: no words, no bar, so that cells lie in the middle of a known square.
Heatmap bare(std::int64_t rows, std::int64_t columns, std::vector<double> values) {
  Heatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values = std::move(values);
  map.row_axis = map.column_axis = "";
  map.print = PrintValues::never;
  map.colour_bar = false;
  return map;
}

// Where the cells are: the box of all pixels that have the colour of some value.
struct CellBox {
  int left = 1 << 20, top = 1 << 20, right = -1, bottom = -1;
};

CellBox find(const Decoded& picture, const std::vector<Colour>& colours) {
  CellBox box;
  for (int row = 0; row < picture.height; ++row) {
    for (int column = 0; column < picture.width; ++column) {
      for (const Colour colour : colours) {
        if (picture.at(column, row) != colour) continue;
        box.left = std::min(box.left, column);
        box.right = std::max(box.right, column + 1);
        box.top = std::min(box.top, row);
        box.bottom = std::max(box.bottom, row + 1);
      }
    }
  }
  return box;
}

// The colours in the centres of the cells, row by row.
std::vector<Colour> centres(const Heatmap& map, const std::vector<Colour>& colours) {
  const Decoded picture = decode_png(render(map));
  const CellBox box = find(picture, colours);
  std::vector<Colour> seen;
  for (std::int64_t i = 0; i < map.rows; ++i) {
    for (std::int64_t j = 0; j < map.columns; ++j) {
      const double x = box.left + (static_cast<double>(j) + 0.5) * (box.right - box.left) /
                                      static_cast<double>(map.columns);
      const double y = box.top + (static_cast<double>(i) + 0.5) * (box.bottom - box.top) /
                                     static_cast<double>(map.rows);
      seen.push_back(picture.at(static_cast<int>(x), static_cast<int>(y)));
    }
  }
  return seen;
}

TEST_CASE("every cell has the colour of its value, in its row and column", "[phase1][plot]") {
  // An F: neither flipped nor transposed does it stay the same.
  const std::vector<double> f{1, 1, 1,  //
                              1, 0, 0,  //
                              1, 1, 0,  //
                              1, 0, 0};
  const Colour low = colour_at(ColourMap::viridis, 0), high = colour_at(ColourMap::viridis, 1);
  Heatmap map = bare(4, 3, f);
  map.colours = ColourMap::viridis;
  const std::vector<Colour> seen = centres(map, {low, high});
  for (std::size_t k = 0; k < f.size(); ++k) CHECK(seen[k] == (f[k] == 1 ? high : low));
}

TEST_CASE("the range is automatic or as given", "[phase1][plot]") {
  const auto ends = [](Heatmap map, double low_share, double high_share) {
    const Colour low = colour_at(map.colours, low_share), high = colour_at(map.colours, high_share);
    return centres(map, {low, high}) == std::vector<Colour>{low, high};
  };
  Heatmap map = bare(1, 2, {0.25, 0.5});
  CHECK(ends(map, 0.5, 1));  // from 0 to the largest
  map.high = 1;
  CHECK(ends(map, 0.25, 0.5));
  Heatmap signs = bare(1, 2, {-1, 4});
  CHECK(ends(signs, 0, 1));
  signs.colours = ColourMap::blue_orange;
  CHECK(ends(signs, 0.375, 1));  // as far below zero as above
  Heatmap extreme = bare(1, 2, {-infinity, 2});
  extreme.low = 0;
  CHECK(ends(extreme, 0, 1));
}

TEST_CASE("NaN is hatched grey, masked cells are pale, both explained", "[phase1][plot]") {
  Heatmap map = attention_heatmap({0.5, 0.5, not_a_number, 1}, {"a", "b"}, {"a", "b"});
  map.masked = {false, true, false, false};
  const Decoded with = decode_png(render(map));
  const auto count = [](const Decoded& picture, Colour colour) {
    return std::count(picture.pixels.begin(), picture.pixels.end(), colour);
  };
  // Rims of letters may have the same grey by chance; a cell has 15,000 pixels.
  CHECK(count(with, theme::missing) > 4000);
  CHECK(count(with, theme::masked) > 8000);
  map.masked.clear();
  map.values[2] = 0;
  const Decoded without = decode_png(render(map));
  CHECK(count(without, theme::missing) < 100);
  CHECK(count(without, theme::masked) < 100);
}

TEST_CASE("small cells leave no seam between them, whatever the size", "[phase1][plot]") {
  Heatmap map = bare(120, 8, std::vector<double>(960, 1.0));
  map.low = 0;
  map.high = 1;
  int seams = 0;
  for (int height = 300; height < 340; ++height) {
    Canvas canvas(200, height);
    draw(canvas, canvas.area().inset(16), map);
    const Decoded picture = decode_png(canvas);
    const int middle = picture.width / 2;
    const Colour ink = picture.at(middle, picture.height / 2);
    const CellBox box = find(picture, {ink});
    for (int y = box.top; y < box.bottom; ++y) seams += picture.at(middle, y) != ink;
  }
  CHECK(seams == 0);
}

TEST_CASE("printed values can be read on any colour", "[phase1][plot]") {
  for (const double value : {0.0, 0.3, 0.45, 0.52, 0.6, 0.75, 1.0}) {
    Heatmap map = bare(1, 1, {value});
    map.high = 1;
    CHECK(texts(render(map), Role::value).empty());
    map.print = PrintValues::automatic;
    const std::vector<Text> printed = texts(render(map), Role::value);
    REQUIRE(printed.size() == 1);
    CHECK(contrast_ratio(printed[0].style.colour, colour_at(map.colours, value)) >= 4.5);
  }
}

TEST_CASE("no word is cut off by the border of the picture", "[phase1][plot]") {
  const std::vector<std::string> longs{"internationalisation", "a-much-longer-token-than-fits",
                                       "\n", " x", "Straßenbahnhaltestelle"};
  std::vector<double> values(25, 0.2);
  CHECK(trouble(render(attention_heatmap(values, longs, longs))) == "");
  CHECK(trouble(render(attention_heatmap({1}, {"a"}, {"b"}))) == "");
  Heatmap wide = attention_heatmap(std::vector<double>(40, 0.025), {"query"},
                                   std::vector<std::string>(40, "a-rather-long-token"));
  wide.title =
      "A title that is long enough to need more than the one line that it might be given, "
      "so it is broken";
  CHECK(trouble(render(wide)) == "");
  CHECK(trouble(render(wide, Size{700, 420}, 1)) == "");
}

TEST_CASE("labels of columns are neither dropped nor turned where they fit", "[phase1][plot]") {
  const std::vector<std::string> words{"<bos>", "a", "b", "c", "d", "e", "=>", "f", "g", "h", "m"};
  Heatmap map = bare(1, 11, std::vector<double>(11, 0.5));
  map.low = 0;
  map.high = 1;
  map.column_labels = words;
  map.row_labels = {""};
  const auto labels = [&](double width) {
    return texts(render(map, Size{width, 200}, 1), Role::column_label);
  };
  for (const double width : {700, 640, 600, 560, 500, 420, 360}) {
    CAPTURE(width);
    CHECK(labels(width).size() == 11);
  }
  CHECK(labels(700)[0].style.angle == 0);
  CHECK(labels(420)[0].style.angle == 0);  // wider than its cell, but "a" leaves room
  map.column_labels.clear();               // indices are thinned
  CHECK(plot::words(render(map, Size{200, 200}, 1), Role::column_label) == Names{"0", "5", "10"});
}

TEST_CASE("all labels of one axis run in one direction", "[phase1][plot]") {
  const Names long_first{"<bos>", "a", "b", "c", "d"}, long_last{"a", "b", "c", "d", "<eos>"};
  const Names one_long{"a", "old", "follow", "birds", "a"};
  for (const bool bar : {true, false}) {
    for (const Names& words : {long_first, long_last, one_long}) {
      Heatmap map = attention_heatmap(std::vector<double>(10, 0.5), {"", ""}, words);
      map.row_axis = map.column_axis = "";
      map.colour_bar = bar;
      map.masked.assign(10, false);
      map.masked[3] = true;
      std::size_t upright = 0, pictures = 0;
      for (double width = 210; width < 500; width += 10, ++pictures) {
        CAPTURE(bar, words, width);
        const Canvas canvas = render(map, Size{width, 330}, 1);
        const std::vector<Text> labels = texts(canvas, Role::column_label);
        for (const Text& label : labels) CHECK(label.style.angle == labels[0].style.angle);
        CHECK(trouble(canvas) == "");
        upright += labels[0].style.angle == 90 ? 1 : 0;
      }
      CHECK(upright > 0);
      CHECK(upright < pictures);
    }
  }
}

TEST_CASE("white cells of a mask end in lines that can be seen on the page", "[phase4][plot]") {
  for (const double side : {400.0, 160.0}) {  // of 12 cells, in small ones too
    Heatmap map = bare(12, 12, std::vector<double>(144, 0));
    map.high = 1;
    map.colours = ColourMap::greys;
    const auto lines = [&] {
      const Canvas canvas = render(map, Size{side, side}, 1);
      std::vector<FilledRect> found = all<FilledRect>(canvas);
      std::erase_if(found, [](const FilledRect& r) { return r.colour == theme::paper; });
      return found.size();
    };
    CAPTURE(side);
    CHECK(lines() == 22);
    map.colours = ColourMap::blues;
    CHECK(lines() == 0);
  }
}

TEST_CASE("the axes are named by default", "[phase1][plot]") {
  const std::vector<std::string> words{"the", "cat", "sat", "on"};
  Heatmap map = attention_heatmap(std::vector<double>(16, 0.25), words, words);
  CHECK(map.row_axis == "query (rows)");
  CHECK(map.column_axis == "key (columns)");
  Heatmap without = map;
  without.row_axis = without.column_axis = "";
  CHECK(render(map).pixel_height() > render(without).pixel_height());
  CHECK(render(map).pixel_width() > render(without).pixel_width());
}

TEST_CASE("long inputs are drawn, pooled by means beyond 1024", "[phase1][plot]") {
  // 1500 columns make blocks of 2; the pairs (0, 1) have mean 0.5.
  std::vector<double> values(1500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 0 : 1;
  Heatmap map = bare(1, 1500, values);
  map.low = 0;
  map.high = 1;
  const Colour half = colour_at(map.colours, 0.5);
  const CellBox box = find(decode_png(render(map)), {half});
  CHECK(box.right - box.left > 1000);
  Heatmap square = bare(200, 200, std::vector<double>(40000, 0.5));
  CHECK(has_clean_border(decode_png(render(square, std::nullopt, 1))));
}

TEST_CASE("a colour bar runs from the low colour at the bottom to the high one", "[phase1][plot]") {
  Canvas canvas(120, 140, 1);
  draw_colour_bar(canvas, {20, 20, 60, 100}, ColourMap::viridis, -2, 6, "score");
  const auto near = [&](int row, double share) {
    return difference(canvas.pixel(27, row), colour_at(ColourMap::viridis, share)) < 2;
  };
  CHECK(near(22, 0.975));
  CHECK(near(70, 0.495));
  CHECK(near(117, 0.025));
  CHECK(has_clean_border(decode_png(canvas)));
}

TEST_CASE("a heatmap draws the same bytes every time", "[phase1][plot]") {
  const Heatmap map = attention_heatmap({0.2, 0.8, 0.6, 0.4}, {"a", "b"}, {"a", "b"});
  const Canvas first = render(map), second = render(map);
  CHECK(std::vector<Colour>(first.pixels().begin(), first.pixels().end()) ==
        std::vector<Colour>(second.pixels().begin(), second.pixels().end()));
}

TEST_CASE("a heatmap says what does not fit together", "[phase1][plot]") {
  const auto words = [](const Heatmap& map) { return words_of_error([&] { render(map); }); };
  CHECK(contains(words(Heatmap{}), "0 rows x 0 columns have nothing to show"));
  Heatmap map = bare(2, 2, {1, 2, 3});
  CHECK(contains(words(map), "need 4 values, but 3 were given"));
  const std::int64_t side = std::int64_t{1} << 32;  // side * side is 2^64, which wraps to 0
  CHECK(contains(words(bare(side, side, {})), "4294967296 x 4294967296 values are more than"));
  CHECK(contains(words(bare(side, side / 2, {})), "need 9223372036854775808 values, but 0"));
  map.values.push_back(4);
  map.row_labels = {"one"};
  CHECK(contains(words(map), "need 2 row labels, but 1 were given"));
  map.row_labels.clear();
  map.low = 3;
  map.high = 1;
  CHECK(contains(words(map), "low at most high"));
  map.low = map.high = {};
  CHECK(contains(words_of_error([&] { render(map, Size{50, 20}); }), "area is too small"));
}

}  // namespace
}  // namespace tapestry::plot
