#include "tapestry/plot/surface.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/gif.hpp"

namespace tapestry::plot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// No words and no bar: the landscape alone, in the middle of the picture.
Heatmap bare(std::int64_t rows, std::int64_t columns, std::vector<double> values) {
  Heatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values = std::move(values);
  map.row_labels.assign(static_cast<std::size_t>(rows), "");
  map.column_labels.assign(static_cast<std::size_t>(columns), "");
  map.row_axis = map.column_axis = "";
  map.colour_bar = false;
  map.low = 0;
  map.high = 1;
  map.colours = ColourMap::viridis;
  return map;
}

// The pixels of exactly that colour: the top of a bar, since its sides are darker.
struct Top {
  int count = 0;
  double x = 0, y = 0;  // their mean
};

Top top_of(const Decoded& picture, double value) {
  const Colour colour = colour_at(ColourMap::viridis, value);
  Top top;
  for (int row = 0; row < picture.height; ++row) {
    for (int column = 0; column < picture.width; ++column) {
      if (picture.at(column, row) != colour) continue;
      ++top.count;
      top.x += column;
      top.y += row;
    }
  }
  top.x /= std::max(1, top.count);
  top.y /= std::max(1, top.count);
  return top;
}

Decoded seen(const Heatmap& map, View view, double scale = 1) {
  return decode_png(render_surface(map, view, {300, 260}, scale));
}

TEST_CASE("the bars of a landscape stand in their rows and columns", "[phase3][plot]") {
  // Tops of equal height: only the place in the plane counts.
  Heatmap map = bare(2, 2, {0, 0, 0, 0});
  map.colours = ColourMap::viridis;
  std::vector<Top> tops;
  for (std::size_t at = 0; at < 4; ++at) {
    map.values.assign(4, 0);
    map.values[at] = 0.5;
    tops.push_back(top_of(seen(map, {0, 60}), 0.5));
    REQUIRE(tops[at].count > 100);
  }
  CHECK(tops[0].x < tops[1].x - 10);  // columns to the right
  CHECK(tops[0].y < tops[2].y - 10);  // rows towards the viewer
  CHECK(std::abs(tops[0].x - tops[2].x) < 2);
  CHECK(std::abs(tops[1].y - tops[0].y) < 2);
  map.values = {0, 0.5, 0, 0};  // turned by 90 degrees, the right side is the far one
  const Top turned = top_of(seen(map, {90, 60}), 0.5);
  CHECK(std::abs(turned.x - tops[0].x) < 2);
  CHECK(std::abs(turned.y - tops[0].y) < 2);
}

TEST_CASE("the height of a bar is its value", "[phase3][plot]") {
  const auto height = [](double value) {
    return top_of(seen(bare(1, 1, {value}), {0, 45}), value).y;
  };
  const double floor = height(0), half = height(0.5), full = height(1);
  CHECK(floor - full > 30);
  CHECK(std::abs((floor - half) - (half - full)) < 1.5);
  CHECK(std::abs(height(7) - top_of(seen(bare(1, 1, {1}), {0, 45}), 1).y) < 0.1);  // cut at the end
}

TEST_CASE("a near bar hides a far one, from whichever side", "[phase3][plot]") {
  Heatmap map = bare(2, 1, {0.2, 1});
  CHECK(top_of(seen(map, {0, 20}), 0.2).count == 0);     // row 1 is near and hides row 0
  CHECK(top_of(seen(map, {180, 20}), 0.2).count > 100);  // row 0 is near
  map = bare(1, 2, {0.2, 1});
  CHECK(top_of(seen(map, {90, 20}), 0.2).count > 100);
  CHECK(top_of(seen(map, {-90, 20}), 0.2).count == 0);
  CHECK(top_of(seen(map, {0, 20}), 0.2).count > 100);
}

TEST_CASE("a full turn brings the same picture back", "[phase3][plot]") {
  const Heatmap map = attention_heatmap({0.2, 0.8, 0.6, 0.4}, {"a", "b"}, {"a", "b"});
  const Decoded first = seen(map, {25, 35});
  CHECK(first.pixels == seen(map, {25, 35}).pixels);
  CHECK(first.pixels == seen(map, {385, 35}).pixels);
  CHECK(first.pixels != seen(map, {205, 35}).pixels);
}

TEST_CASE("masked and NaN cells lie flat and grey", "[phase3][plot]") {
  Heatmap map = bare(1, 2, {not_a_number, 1});
  map.masked = {false, true};
  const Decoded picture = seen(map, {0, 60});
  const auto count = [&](Colour colour) {
    return std::count(picture.pixels.begin(), picture.pixels.end(), colour);
  };
  CHECK(count(theme::missing) > 500);
  CHECK(count(theme::masked) > 500);
  CHECK(top_of(picture, 1).count == 0);
}

TEST_CASE("no word of a landscape is cut off, at any turn", "[phase3][plot]") {
  const std::vector<std::string> words{"internationalisation", "as-long-as-it",
                                       "Straßenbahnhaltestelle", "\n"};
  Heatmap map = attention_heatmap(std::vector<double>(16, 0.9), words, words);
  for (const double turn : {0.0, 44.0, 90.0, 135.0, 200.0, 301.0}) {
    CAPTURE(turn);
    Canvas canvas(400, 360, 1);
    draw_surface(canvas, canvas.area().inset(8), map, {turn, 35});
    CHECK(trouble(canvas) == "");
  }
  Heatmap strip = attention_heatmap(std::vector<double>(20, 0.05), {"query"},
                                    std::vector<std::string>(20, "a-rather-long-word"));
  CHECK(has_clean_border(decode_png(render_surface(strip, {10, 80}, {420, 380}, 1))));
}

TEST_CASE("beyond 32 rows or columns, a landscape shows means of blocks", "[phase3][plot]") {
  std::vector<double> values(64, 0);
  for (std::size_t j = 0; j < 64; j += 2) values[j] = 1;
  const Decoded picture = seen(bare(1, 64, values), {0, 60}, 2);
  CHECK(top_of(picture, 0.5).count > 100);
  CHECK(top_of(picture, 1).count == 0);
}

TEST_CASE("33 columns of a landscape are averaged in twos", "[phase3][plot]") {
  std::vector<double> values(33, 0);
  for (std::size_t j = 0; j < 33; j += 2) values[j] = 1;
  CHECK(top_of(seen(bare(1, 33, values), {0, 60}, 2), 0.5).count > 100);
}

TEST_CASE("no word of a landscape stands on its head", "[phase3][plot]") {
  const Heatmap map = attention_heatmap({0.2, 0.8, 0.6, 0.4}, {"a", "b"}, {"a", "b"});
  for (const double turn : {0.3, -0.3, 45.0, 89.7, 90.3, 179.7, 180.3, 269.7, 270.3}) {
    CAPTURE(turn);
    for (const Text& text : all<Text>(render_surface(map, {turn, 50}, {300, 260}, 1))) {
      CHECK((text.style.angle > -90 && text.style.angle <= 90));
    }
  }
}

TEST_CASE("heights near the floor have no number: the labels of the edges begin there",
          "[phase3][plot]") {
  const auto numbers = [](double low) {
    Heatmap map = bare(2, 2, {0.2, 0.4, 0.6, 0.8});
    map.low = low;
    return words(render_surface(map, {30, 30}, {400, 400}, 1), Role::scale_tick);
  };
  CHECK(numbers(-0.03).front() == "0");
  CHECK(numbers(-0.015).front() != "0");
}

TEST_CASE("a film of a landscape goes round once", "[phase3][plot]") {
  const Heatmap map = bare(2, 2, {0.2, 1, 0.6, 0.4});
  const std::vector<Canvas> film = surface_360(map, 4, 40, {200, 180});
  REQUIRE(film.size() == 4);
  const Canvas third = render_surface(map, {30 + 180, 40}, {200, 180}, 1);
  CHECK(std::equal(third.pixels().begin(), third.pixels().end(), film[2].pixels().begin()));
  CHECK(encode_gif(film).size() < 40000);
}

TEST_CASE("a landscape says what is wrong", "[phase3][plot]") {
  const Heatmap map = bare(1, 1, {1});
  const auto words = [&](View view) { return words_of_error([&] { render_surface(map, view); }); };
  CHECK(contains(words({30, 5}), "tilt 5 degrees"));
  CHECK(contains(words({30, 9.5}), "tilt 9.5 degrees"));
  CHECK(contains(words({30, 80.5}), "tilt 80.5 degrees"));
  CHECK(render_surface(map, {30, 10}, {300, 260}, 1).pixel_width() == 300);
  CHECK(contains(words({30, 81}), "the tilt 10 to 80"));
  CHECK(contains(words({30, not_a_number}), "the tilt 10 to 80"));
  CHECK(contains(words({not_a_number, 30}), "the turn must be finite"));
  CHECK(contains(words_of_error([&] { render_surface(Heatmap{}); }), "nothing to show"));
  CHECK(contains(words_of_error([&] { render_surface(map, {}, {60, 60}); }), "too small"));
  CHECK(contains(words_of_error([&] { surface_360(map, 0); }), "0 frames; choose 1 to 360"));
  CHECK(contains(words_of_error([&] { surface_360(map, 361); }), "choose 1 to 360"));
  CHECK(surface_360(map, 1, 40, {200, 180}).size() == 1);
}

TEST_CASE("the floor of a landscape is at least 40 units wide", "[phase3][plot]") {
  const auto fits = [](double side) {
    return words_of_error([&] { render_surface(bare(1, 1, {1}), {30, 35}, {side, side}, 1); })
        .empty();
  };
  CHECK(fits(168));
  CHECK_FALSE(fits(167.5));
}

TEST_CASE("a film of a landscape has up to 360 frames", "[phase3][plot]") {
  const auto words = [](int frames) {
    return words_of_error([&] { surface_360(bare(1, 1, {1}), frames, 35, {50, 50}); });
  };
  CHECK(contains(words(360), "too small"));  // the number is accepted
  CHECK(contains(words(361), "choose 1 to 360"));
  CHECK(contains(words(0), "choose 1 to 360"));
}

}  // namespace
}  // namespace tapestry::plot
