// See snapshot.hpp for what these tests are worth.
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/surface.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<std::string> words{"the", "cat", "sat", "on", " the", "d_model"};

Heatmap numbered(std::int64_t rows, std::int64_t columns, double low = 0, double high = 1) {
  Heatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values = sample_values(static_cast<std::size_t>(rows * columns), low, high);
  return map;
}

// NaN, masked cells and infinities.
Heatmap with_gaps() {
  Heatmap map = numbered(4, 5, -2, 1);
  map.title = "With gaps";
  map.subtitle = "NaN, masked and infinite";
  map.values[3] = none;
  map.values[7] = infinity;
  map.values[8] = -infinity;
  map.masked.assign(20, false);
  map.masked[4] = map.masked[9] = map.masked[13] = true;
  map.colours = ColourMap::blue_orange;
  map.colour_bar_name = "score";
  return map;
}

Canvas small(const Heatmap& map) { return render(map, std::nullopt, 1); }

TEST_CASE("heatmaps look as they did", "[phase0][plot]") {
  check_snapshot("attention", 0xB24E80E0243072F0u,
                 small(attention_heatmap(sample_values(36), words, words)));
  check_snapshot("gaps", 0x860C9562E2E390D9u, small(with_gaps()));
  Heatmap indices = numbered(30, 45, 3, 4);
  indices.colours = ColourMap::greys;
  check_snapshot("indices", 0x8AA1BE1AAB31353Cu, small(indices));
  check_snapshot("a strip", 0xA25666D886FB3715u, small(numbered(2, 30)));
  check_snapshot("a tall strip", 0xC996685EEA65C366u, small(numbered(26, 3)));
  Heatmap flat = numbered(3, 3, 2, 2);
  flat.row_axis = flat.column_axis = "";
  flat.title = "One value";
  check_snapshot("one value", 0xC51A6C3052A7F977u, small(flat));
  flat.colour_bar = false;
  flat.digits = 0;
  check_snapshot("without a bar", 0xB09ADD7C2155D4BEu, small(flat));
}

TEST_CASE("labels of heatmaps look as they did", "[phase0][plot]") {
  Heatmap map = numbered(3, 6);
  map.row_labels = {"short", "a label that is so long that it is cut in the end", "\n"};
  map.column_labels = words;
  map.column_labels[2] = "interpretation";
  map.colours = ColourMap::viridis;
  check_snapshot("one long", 0xA000A64B216FDDDEu, small(map));
  map.column_labels[3] = map.column_labels[0] = "a label that is so long that it is cut, too";
  check_snapshot("all upright", 0x2547402F747E81F7u, small(map));
  Heatmap many = numbered(60, 90);
  many.row_labels = sample_words("row", 60);
  many.column_labels = sample_words("c", 90);
  many.colour_bar_name = "a name that is a little too long for such a small bar";
  check_snapshot("thinned labels", 0x588C835E666D404Eu, render(many, Size{300, 260}, 1));
}

TEST_CASE("heatmaps in little room look as they did", "[phase0][plot]") {
  Heatmap map = with_gaps();
  check_snapshot("smaller", 0x68B9343A17417FAu, render(map, Size{290, 270}, 1));
  map.print = PrintValues::always;
  check_snapshot("tiny values", 0x9ABB1A564C333D89u, render(map, Size{270, 260}, 1));
  map.print = PrintValues::never;
  Canvas canvas(320, 260, 2, {240, 240, 220});
  draw(canvas, {20.3, 11.6, 280, 230}, map);
  check_snapshot("heatmap in an area", 0x9370DB46F510C848u, canvas);
  Heatmap long_one = numbered(1030, 3);
  long_one.masked.assign(3090, false);
  for (std::size_t i = 30; i < 36; ++i) long_one.masked[i] = true;
  long_one.subtitle = "a column";
  long_one.colour_bar = false;
  check_snapshot("means of blocks", 0xFB6B1838451DC24Bu, render(long_one, Size{300, 700}, 1));
}

TEST_CASE("colour bars look as they did", "[phase0][plot]") {
  Canvas canvas(240, 180, 1);
  draw_colour_bar(canvas, {10, 8.3, 0, 160}, ColourMap::viridis, -3, 14, "value");
  draw_colour_bar(canvas, {90, 40, 0, 119.5}, ColourMap::blues, 0, 1e-4,
                  "a much longer name than fits");
  draw_colour_bar(canvas, {190, 40, 0, 60}, ColourMap::blue_orange, -1, 1, "");
  check_snapshot("colour bars", 0x95F29D82178EA03Bu, canvas);
}

TEST_CASE("grids of heatmaps look as they did", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.columns = 3;
  grid.title = "Heads";
  for (int k = 0; k < 5; ++k) {
    grid.maps.push_back(
        attention_heatmap(sample_values(36, 0, 0.2 * k + 0.1), words, words,
                          "layer " + std::to_string(k / 3) + ", head " + std::to_string(k % 3)));
  }
  check_snapshot("grid", 0x692DB86C1B8D7AD0u, render(grid, 90, 1));
  check_snapshot("grid without words", 0x1010E4D85067879Fu, render(grid, 60, 1));
  grid.maps[1].values[2] = none;
  grid.maps[3].masked.assign(36, false);
  grid.maps[3].masked[5] = true;
  grid.maps[0].low = grid.maps[0].high = std::nullopt;
  grid.maps[2].row_labels[0] = "other";
  grid.subtitle = "one has other words";
  grid.maps[0].title = "a title that is longer than its map";
  Canvas canvas(440, 390, 1);
  draw(canvas, {20.4, 10.2, 400, 370}, grid);
  HeatmapGrid titles;  // cut where the next map begins
  titles.columns = 4;
  for (std::size_t k = 0; k < 8; ++k) {
    titles.maps.push_back(numbered(3, 3));
    titles.maps.back().title = std::string(k, 'e') + std::string(30, 'i');
  }
  check_snapshot("grid of titles", 0xB0176D642DA048Eu, render(titles, 70, 1));
  check_snapshot("grid in an area", 0x841F06F0AE81233Bu, canvas);
  HeatmapGrid plain{2, {numbered(140, 20, -1, 1), numbered(140, 20, -3, 1)}};
  plain.maps[0].colour_bar = false;
  plain.maps[0].low = -4;
  plain.maps[0].row_axis = "row";
  plain.maps[0].column_axis = "";
  plain.subtitle = "tall";
  check_snapshot("tall grid", 0x2315A82E2D521397u, render(plain, 130, 1));
}

TEST_CASE("landscapes look as they did", "[phase3][plot]") {
  Heatmap map = attention_heatmap(sample_values(36), words, words);
  map.subtitle = "from the side";
  const auto seen = [&](double turn, double tilt = 35) {
    return render_surface(map, {turn, tilt}, {400, 340}, 1);
  };
  check_snapshot("landscape 0", 0x8D750D70FAA38591u, seen(0));
  check_snapshot("landscape 30", 0x5CBC59337D08092u, seen(30));
  check_snapshot("landscape 90", 0x141630378BD2F1CAu, seen(90));
  check_snapshot("landscape 135", 0xECA11FE2873ECDFAu, seen(135, 62));
  check_snapshot("landscape 180", 0x1364628E89EAF5C8u, seen(180));
  check_snapshot("landscape 250", 0x86F6E6A2FA4F2E2Cu, seen(250));
  check_snapshot("landscape 335", 0x993F0563A3B4EF81u, seen(335));
  map.row_labels[2] = "internationalisation";
  check_snapshot("landscape and a long word", 0xCCA001F61D8089A8u,
                 render_surface(map, {20, 35}, {440, 360}, 1));
  check_snapshot("landscape with gaps", 0x7E6921B679322C63u,
                 render_surface(with_gaps(), {-20, 20}, {380, 320}, 1));
  Heatmap wide = numbered(10, 40, -1, 3);
  wide.high = 4;
  wide.colour_bar = false;
  wide.column_axis = "";
  check_snapshot("wide landscape", 0xDC5D5C6DA5FBD666u,
                 render_surface(wide, {40, 50}, {400, 300}, 1));
  check_snapshot("film", 0xA4922B20B330090Fu, surface_360(numbered(3, 2), 5, 30, {300, 260}));
}

}  // namespace
}  // namespace tapestry::plot
