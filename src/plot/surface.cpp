#include "tapestry/plot/surface.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "plot/scene.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr std::int64_t most_bars = 32;  // per side; beyond, blocks are averaged
constexpr double longest_word = 72, word_gap = 7, name_room = 24;
constexpr double bar_share = 0.84;  // of a cell; the gap separates neighbours
constexpr Colour floor_colour{244, 246, 249}, wall_colour{250, 251, 252};

// All that does not depend on the turn.
struct Landscape {
  PooledHeatmap map;
  ColourRange range;
  std::vector<std::string> row_words, column_words;
  std::vector<double> ticks;
  std::vector<std::string> tick_words;
  double words_reach = 0;  // from the edge to the end of the longest word
};

Landscape prepare(const Heatmap& heatmap) {
  Landscape land;
  land.map = pooled(heatmap, most_bars);
  const HeatmapLayout layout = layout_for(land.map, any_width);
  land.range = layout.range;
  const auto cut = [](const std::vector<std::string>& labels) {
    std::vector<std::string> words;
    for (const std::string& label : labels) {
      words.push_back(fit_text(label, longest_word, label_style()));
    }
    return words;
  };
  land.row_words = cut(layout.row_labels);
  land.column_words = cut(layout.column_labels);
  land.words_reach = word_gap + std::max(widest(land.row_words, label_style()),
                                         widest(land.column_words, label_style()));
  land.ticks = linear_ticks(land.range.low, land.range.high, 4);
  land.tick_words = tick_texts(land.ticks);
  return land;
}

void check_view(View view) {
  if (std::isfinite(view.turn) && view.tilt >= 10 && view.tilt <= 80) return;
  throw Error(
      formatted("surface: turn %g and tilt %g degrees; the turn must be finite and the tilt "
                "10 to 80",
                view.turn, view.tilt));
}

// The leftmost corner of the floor: there the heights are written.
Point3 left_corner(const Scene& scene) {
  Point3 left = scene.corners().front();
  for (const Point3 corner : scene.corners()) {
    const double further = scene.at(left).x - scene.at(corner).x;
    const bool behind = scene.depth(corner.x, corner.y) > scene.depth(left.x, left.y);
    if (further > 1e-6 || (further > -1e-6 && behind)) left = corner;
  }
  return left;
}

// All points that must be inside the picture.
std::vector<Point> outermost(const Scene& scene, const Landscape& land) {
  std::vector<Point> points;
  for (const Point3 corner : scene.corners()) {
    points.push_back(scene.at(corner));
    points.push_back(scene.at({corner.x, corner.y, scene.height()}) - Point{0, 8});
  }
  const double tick_room = widest(land.tick_words, {type::tick}) + 12;
  points.push_back(scene.at(left_corner(scene)) - Point{tick_room, 0});
  const double half = 0.6 * type::label;
  const auto strip = [&](Point3 from, Point3 to, Side side) {
    const Point reach = (land.words_reach + name_room) * scene.outward(side);
    for (const Point end : {scene.at(from) + reach, scene.at(to) + reach}) {
      points.push_back(end - Point{half, half});
      points.push_back(end + Point{half, half});
    }
  };
  strip(scene.row_mark(0), scene.row_mark(scene.length() - 1), scene.row_side());
  strip(scene.column_mark(0), scene.column_mark(scene.width() - 1), scene.column_side());
  return points;
}

// The bounding box of all these points, for any turn.
Rect reach(const Landscape& land, double tilt, double unit) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Point low{infinity, infinity}, high{-infinity, -infinity};
  for (int turn = 0; turn < 360; turn += 6) {
    const View view{static_cast<double>(turn), tilt};
    const Scene scene(land.map.rows, land.map.columns, view, unit, {0, 0});
    for (const Point p : outermost(scene, land)) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  return {low.x, low.y, high.x - low.x, high.y - low.y};
}

// The largest scene that stays within `room` at every turn.
Scene fitted_scene(const Rect& room, const Landscape& land, View view) {
  double unit = 0;
  for (double step = 512; step > 0.01; step /= 2) {
    const Rect box = reach(land, view.tilt, unit + step);
    if (box.width <= room.width && box.height <= room.height) unit += step;
  }
  if (unit * static_cast<double>(std::max(land.map.rows, land.map.columns)) < 40) {
    throw Error(
        "surface: the area is too small for the chart and its labels; give it more room or "
        "leave out the labels or the colour bar");
  }
  const Rect box = reach(land, view.tilt, unit);
  return {land.map.rows, land.map.columns, view, unit, room.centre() - box.centre()};
}

void draw_wall(Canvas& canvas, const Scene& scene, const Landscape& land, Side side) {
  const double x = scene.width() / 2, y = scene.length() / 2;
  const Point3 from{side.x != 0 ? side.x * x : -x, side.y != 0 ? side.y * y : -y, 0};
  const Point3 to{side.x != 0 ? side.x * x : x, side.y != 0 ? side.y * y : y, 0};
  const auto raised = [&](Point3 p, double share) {
    return scene.at({p.x, p.y, share * scene.height()});
  };
  const Point wall[] = {raised(from, 0), raised(to, 0), raised(to, 1), raised(from, 1)};
  canvas.fill_polygon(wall, wall_colour);
  for (const double tick : land.ticks) {
    const double share = land.range.share(tick);
    canvas.line(raised(from, share), raised(to, share), {theme::grid, 1});
  }
  canvas.line(wall[1], wall[2], {theme::grid, 1});
  canvas.line(wall[3], wall[0], {theme::grid, 1});
}

void draw_room(Canvas& canvas, const Scene& scene, const Landscape& land) {
  std::vector<Point> floor;
  for (const Point3 corner : scene.corners()) floor.push_back(scene.at(corner));
  canvas.fill_polygon(floor, floor_colour);
  for (const Side side : {Side{1, 0}, Side{-1, 0}, Side{0, 1}, Side{0, -1}}) {
    if (!scene.faces_viewer(side)) draw_wall(canvas, scene, land, side);
  }
  floor.push_back(floor.front());
  canvas.polyline(floor, {theme::frame, 1});
  const Point3 corner = left_corner(scene);
  const TextStyle style{type::tick, theme::faded, false, Align::right, VerticalAlign::middle};
  double free = scene.at(corner).y + type::tick;  // above the last text
  for (std::size_t i = 0; i < land.ticks.size(); ++i) {
    const double share = land.range.share(land.ticks[i]);
    if (share < 0.02) continue;  // the floor, where the labels of an edge begin
    const Point p = scene.at({corner.x, corner.y, share * scene.height()});
    canvas.line(p, p - Point{4, 0}, {theme::frame, 1});
    if (p.y > free) continue;  // it would touch
    canvas.text(p - Point{8, 0}, land.tick_words[i], style, Role::scale_tick);
    free = p.y - 1.1 * style.size;
  }
}

// A face with a slightly darker rim: between the anti-aliased edges of two faces a third would be
// visible.
void draw_face(Canvas& canvas, std::vector<Point> points, Colour colour) {
  canvas.fill_polygon(points, colour);
  points.push_back(points.front());
  canvas.polyline(points, {mix(colour, theme::ink, 0.22), 0.7});
}

void draw_flat(Canvas& canvas, const Scene& scene, Point middle, Colour colour, bool crossed) {
  const double half = bar_share / 2;
  const auto corner = [&](double x, double y) {
    return scene.at({middle.x + x * half, middle.y + y * half, 0});
  };
  draw_face(canvas, {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)}, colour);
  if (!crossed) return;
  const Stroke stroke{mix(colour, theme::ink, 0.25), 1};
  canvas.line(corner(-0.3, -0.3), corner(0.3, 0.3), stroke);
  canvas.line(corner(-0.3, 0.3), corner(0.3, -0.3), stroke);
}

// The two sides that can be seen, then the top. The light comes from the viewer's left.
void draw_bar(Canvas& canvas, const Scene& scene, Point middle, double share, Colour colour) {
  const double half = bar_share / 2, top = share * scene.height();
  const auto corner = [&](double x, double y, double z) {
    return scene.at({middle.x + x * half, middle.y + y * half, z});
  };
  for (const Side side : {Side{1, 0}, Side{-1, 0}, Side{0, 1}, Side{0, -1}}) {
    if (!scene.faces_viewer(side) || top <= 0) continue;
    const double x = side.x - side.y, y = side.y + side.x;  // one end of the side ...
    const double u = side.x + side.y, v = side.y - side.x;  // ... and the other
    const double light = 0.76 - 0.14 * scene.to_the_right(side);
    draw_face(canvas, {corner(x, y, 0), corner(u, v, 0), corner(u, v, top), corner(x, y, top)},
              mix(theme::ink, colour, light));
  }
  draw_face(canvas,
            {corner(-1, -1, top), corner(1, -1, top), corner(1, 1, top), corner(-1, 1, top)},
            colour);
}

void draw_cell(Canvas& canvas, const Scene& scene, const Landscape& land, std::size_t at) {
  const auto columns = static_cast<std::size_t>(land.map.columns);
  const Point middle =
      scene.middle(static_cast<double>(at / columns), static_cast<double>(at % columns));
  const double value = land.map.values[at];
  if (!land.map.masked.empty() && land.map.masked[at]) {
    return draw_flat(canvas, scene, middle, theme::masked, true);
  }
  if (std::isnan(value)) return draw_flat(canvas, scene, middle, theme::missing, false);
  const double share = std::clamp(land.range.share(value), 0.0, 1.0);
  draw_bar(canvas, scene, middle, share, colour_at(land.map.colours, share));
}

// Painter's algorithm: back to front. A cell that hides another is nearer in both directions of the
// floor, so comparing the depth of the centres is enough.
void draw_bars(Canvas& canvas, const Scene& scene, const Landscape& land) {
  const auto columns = static_cast<std::size_t>(land.map.columns);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t at = 0; at < land.map.values.size(); ++at) {
    const Point p =
        scene.middle(static_cast<double>(at / columns), static_cast<double>(at % columns));
    order.emplace_back(-scene.depth(p.x, p.y), at);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [nearness, at] : order) draw_cell(canvas, scene, land, at);
}

// A style for text along `direction`, never upside down.
TextStyle running_along(Point direction, TextStyle style) {
  const double angle = std::atan2(-direction.y, direction.x) * 180 / std::numbers::pi;
  const bool over = angle > 90 || angle <= -90;
  style.angle = over ? angle - std::copysign(180.0, angle) : angle;
  style.align = over ? Align::right : Align::left;
  style.vertical = VerticalAlign::middle;
  return style;
}

// Labels outwards from the ends of rows or columns, and the name of the axis beside them.
void draw_words(Canvas& canvas, const Scene& scene, const Landscape& land, bool of_rows) {
  const std::vector<std::string>& words = of_rows ? land.row_words : land.column_words;
  const auto mark = of_rows ? &Scene::row_mark : &Scene::column_mark;
  const Point out = scene.outward(of_rows ? scene.row_side() : scene.column_side());
  const TextStyle style = running_along(out, label_style());
  const double last = static_cast<double>(words.size() - 1);
  const std::int64_t stride = label_stride(scene.least_pitch(), 1.05 * style.size);
  for (std::size_t i = 0; i < words.size(); i += static_cast<std::size_t>(stride)) {
    canvas.text(scene.at((scene.*mark)(static_cast<double>(i))) + word_gap * out, words[i], style,
                of_rows ? Role::row_label : Role::column_label);
  }
  const double reach = word_gap + widest(words, label_style()) + 0.6 * name_room;
  const Point along = scene.at((scene.*mark)(1)) - scene.at((scene.*mark)(0));
  TextStyle name_style = running_along(along, {type::label, theme::faded});
  name_style.align = Align::centre;
  canvas.text(scene.at((scene.*mark)(last / 2)) + reach * out,
              of_rows ? land.map.row_axis : land.map.column_axis, name_style,
              of_rows ? Role::row_axis : Role::column_axis);
}

}  // namespace

void draw_surface(Canvas& canvas, Rect area, const Heatmap& heatmap, View view) {
  check(heatmap);
  check_view(view);
  const Landscape land = prepare(heatmap);
  Rect room = draw_title(canvas, area, land.map.title, land.map.subtitle);
  const double bar_room = layout_for(land.map, any_width).right;
  const Rect bar{room.right() - bar_room + bar_gap, room.y + 8, 0,
                 std::clamp(0.4 * room.height, shortest_bar, 200.0)};
  room.width -= bar_room;
  const Scene scene = fitted_scene(room, land, view);
  draw_room(canvas, scene, land);
  draw_bars(canvas, scene, land);
  for (const bool of_rows : {true, false}) draw_words(canvas, scene, land, of_rows);
  if (!land.map.colour_bar) return;
  draw_colour_bar(canvas, bar, land.map.colours, land.range.low, land.range.high,
                  land.map.colour_bar_name);
  draw_key(canvas, {bar.x, bar.bottom() + 10}, land.map);
}

Canvas render_surface(const Heatmap& heatmap, View view, Size size, double scale) {
  Canvas canvas(size.width, size.height, scale);
  draw_surface(canvas, canvas.area().inset(margin), heatmap, view);
  return canvas;
}

std::vector<Canvas> surface_360(const Heatmap& heatmap, int frames, double tilt, Size size,
                                double scale) {
  if (frames < 1 || frames > 360) {
    throw Error("surface_360: " + std::to_string(frames) + " frames; choose 1 to 360");
  }
  std::vector<Canvas> film;
  for (int k = 0; k < frames; ++k) {
    film.push_back(render_surface(heatmap, {30 + 360.0 * k / frames, tilt}, size, scale));
  }
  return film;
}

}  // namespace tapestry::plot
