// The words around a matrix, as cells or as a landscape: each stands at what it names.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/surface.hpp"

namespace tapestry::plot {
namespace {

using namespace sample;

void check_matrix(const Canvas& canvas, const Names& rows, const Names& columns) {
  const Cells cells = all<Cells>(canvas).at(0);
  const Rect cell = cells.cell(0, 0);
  const std::vector<Text> down = texts(canvas, Role::row_label);
  const std::vector<Text> across = texts(canvas, Role::column_label);
  CHECK(words(canvas, Role::row_label) == shown(rows));
  CHECK(words(canvas, Role::column_label) == shown(columns));
  for (std::size_t i = 0; i < down.size(); ++i) {
    const Rect place = cells.cell(static_cast<std::int64_t>(i), 0);
    CHECK(std::abs(middle(down[i]).y - place.centre().y) < 0.02 * cell.height);
    CHECK(std::abs(bounds(down[i]).right() - (place.x - 8)) < 0.5);
  }
  for (std::size_t j = 0; j < across.size(); ++j) {
    const Rect place = cells.cell(0, static_cast<std::int64_t>(j));
    CHECK(std::abs(middle(across[j]).x - place.centre().x) < 0.02 * cell.width);
    CHECK(bounds(across[j]).y > cells.area.bottom() + 4);
    CHECK(bounds(across[j]).y < cells.area.bottom() + 12);
  }
  REQUIRE(words(canvas, Role::row_axis) == Names{"query (rows)"});
  REQUIRE(words(canvas, Role::column_axis) == Names{"key (columns)"});
  const Text query = texts(canvas, Role::row_axis)[0], key = texts(canvas, Role::column_axis)[0];
  CHECK(query.style.angle == 90);
  CHECK(std::abs(middle(query).y - cells.area.centre().y) < 0.5);
  for (const Text& text : down) CHECK(bounds(query).right() < bounds(text).x);
  CHECK(key.style.angle == 0);
  CHECK(std::abs(middle(key).x - cells.area.centre().x) < 0.5);
  for (const Text& text : across) CHECK(bounds(key).y > bounds(text).bottom());
}

TEST_CASE("rows and columns have their words at their middle, and their names", "[phase1][plot]") {
  check_matrix(render(matrix(sentence, sentence)), sentence, sentence);
  check_matrix(render(matrix(sentence, {"a", "b", "c"})), sentence, {"a", "b", "c"});
  check_matrix(render(matrix(sentence, sentence), Size{500, 420}, 1), sentence, sentence);
  check_matrix(render(indices(4, 3)), {"0", "1", "2", "3"}, {"0", "1", "2"});
}

TEST_CASE("a printed value stands in its cell, in a colour that can be read", "[phase1][plot]") {
  const Heatmap map = matrix(sentence, sentence);
  const Canvas canvas = render(map);
  const Cells cells = all<Cells>(canvas).at(0);
  const std::vector<Text> values = texts(canvas, Role::value);
  REQUIRE(values.size() == 36);
  for (std::size_t at = 0; at < 36; ++at) {
    const Rect cell =
        cells.cell(static_cast<std::int64_t>(at / 6), static_cast<std::int64_t>(at % 6));
    CHECK(values[at].words == number_text(map.values[at], 2));
    CHECK(std::abs(middle(values[at]).x - cell.centre().x) < 0.5);
    CHECK(std::abs(middle(values[at]).y - cell.centre().y) < 0.5);
    CHECK(contrast_ratio(values[at].style.colour, cells.colours[at]) >= 4.5);
    for (const Point p : corners(values[at])) CHECK(cell.contains(p));
  }
}

double value_of(std::string text) {
  if (const std::size_t at = text.find("−"); at != std::string::npos) {
    text.replace(at, std::string("−").size(), "-");
  }
  return std::stod(text);
}

TEST_CASE("ticks of a colour bar stand at the colours that they name", "[phase1][plot]") {
  for (const auto& [low, high] : {std::pair{0.0, 1.0}, {-3.0, 14.0}, {0.2, 0.45}}) {
    Canvas canvas(120, 220);
    draw_colour_bar(canvas, {20, 20.3, 0, 180}, ColourMap::viridis, low, high, "score");
    const Cells bar = all<Cells>(canvas).at(0);
    const std::vector<Text> ticks = texts(canvas, Role::scale_tick);
    CHECK(ticks.size() >= 3);
    for (const Text& tick : ticks) {
      const double share = (value_of(tick.words) - low) / (high - low);
      CHECK(std::abs(middle(tick).y - (bar.area.bottom() - share * bar.area.height)) < 0.3);
      const double row = std::clamp((1 - share) * double(bar.rows), 0.0, double(bar.rows) - 1);
      CHECK(difference(bar.colours[std::size_t(row)], colour_at(ColourMap::viridis, share)) < 2);
    }
    CHECK(words(canvas, Role::scale) == Names{"score"});
    CHECK(trouble(canvas) == "");
  }
}

TEST_CASE("words and names of a grid belong to its outer maps", "[phase3][plot]") {
  const Names names{"a", "b", "c", "d"};
  const Canvas canvas = render(grid(names));
  std::vector<Cells> maps = all<Cells>(canvas);
  maps.resize(5);  // then comes the bar
  const std::vector<Text> down = texts(canvas, Role::row_label);
  const std::vector<Text> across = texts(canvas, Role::column_label);
  REQUIRE(down.size() == 2 * 4);    // beside maps 0 and 3
  REQUIRE(across.size() == 3 * 4);  // below maps 2, 3 and 4
  for (std::size_t i = 0; i < 8; ++i) {
    const Rect cell = maps[i < 4 ? 0 : 3].cell(static_cast<std::int64_t>(i % 4), 0);
    CHECK(down[i].words == names[i % 4]);
    CHECK(std::abs(middle(down[i]).y - cell.centre().y) < 0.02 * cell.height);
    CHECK(std::abs(bounds(down[i]).right() - (cell.x - 5)) < 0.5);
  }
  for (std::size_t j = 0; j < 12; ++j) {
    const Rect cell = maps[2 + j / 4].cell(3, static_cast<std::int64_t>(j % 4));
    CHECK(across[j].words == names[j % 4]);
    CHECK(std::abs(middle(across[j]).x - cell.centre().x) < 0.02 * cell.width);
    CHECK(std::abs(bounds(across[j]).y - (cell.bottom() + 5)) < 0.5);
  }
}

TEST_CASE("maps of a grid have titles, and together the names of the axes", "[phase3][plot]") {
  const Canvas canvas = render(grid({"a", "b", "c", "d"}));
  const std::vector<Cells> maps = all<Cells>(canvas);
  const std::vector<Text> titles = texts(canvas, Role::title);  // the first is that of the grid
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(titles[k + 1].words == "head " + std::to_string(k));
    CHECK(std::abs(titles[k + 1].at.x - maps[k].area.x) < 1);
    CHECK(std::abs(titles[k + 1].at.y - (maps[k].area.y - 5)) < 1);
  }
  REQUIRE(words(canvas, Role::row_axis) == Names{"query (rows)"});
  REQUIRE(words(canvas, Role::column_axis) == Names{"key (columns)"});
  CHECK(bounds(texts(canvas, Role::row_axis)[0]).right() <
        bounds(texts(canvas, Role::row_label)[0]).x);
  CHECK(bounds(texts(canvas, Role::column_axis)[0]).y >
        bounds(texts(canvas, Role::column_label)[0]).bottom());
}

// Words that run outwards from the middles of the cells along one side of the floor.
void check_edge(const std::vector<Text>& labels, const Names& wanted,
                const std::vector<Point>& floor) {
  REQUIRE(labels.size() == wanted.size());
  const double n = double(wanted.size());
  int sides = 0;
  for (std::size_t corner = 0; corner < 4; ++corner) {
    for (const std::size_t next : {(corner + 1) % 4, (corner + 3) % 4}) {
      bool fits = true;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const Point mark = between(floor[corner], floor[next], (double(i) + 0.5) / n);
        const Point gap = labels[i].at - mark;
        fits = fits && std::abs(std::hypot(gap.x, gap.y) - 7) < 0.1;
      }
      sides += fits ? 1 : 0;
    }
  }
  CHECK(sides == 1);
  for (std::size_t i = 0; i < labels.size(); ++i) CHECK(labels[i].words == wanted[i]);
}

TEST_CASE("words of a landscape run on from their rows and columns", "[phase3][plot]") {
  const Names queries{"the", "cat", "sat", "on", "mat"}, keys{"a", "b", "c"};
  for (const double turn : {0.0, 30.0, 75.0, 130.0, 180.0, 250.0, 335.0}) {
    CAPTURE(turn);
    const Canvas canvas = render_surface(matrix(queries, keys), {turn, 35});
    const std::vector<Point> floor = all<FilledPolygon>(canvas).at(0).points;
    REQUIRE(floor.size() == 4);
    check_edge(texts(canvas, Role::row_label), queries, floor);
    check_edge(texts(canvas, Role::column_label), keys, floor);
    REQUIRE(words(canvas, Role::row_axis) == Names{"query (rows)"});
    REQUIRE(words(canvas, Role::column_axis) == Names{"key (columns)"});
    const auto nearest = [&](Role axis, Role label) {  // of the middle label
      const std::vector<Text> labels = texts(canvas, label);
      const Point gap = middle(texts(canvas, axis)[0]) - middle(labels[labels.size() / 2]);
      return std::hypot(gap.x, gap.y);
    };
    CHECK(nearest(Role::row_axis, Role::row_label) < nearest(Role::row_axis, Role::column_label));
    CHECK(nearest(Role::column_axis, Role::column_label) <
          nearest(Role::column_axis, Role::row_label));
  }
}

}  // namespace
}  // namespace tapestry::plot
