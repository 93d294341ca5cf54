#include "tapestry/plot/heatmap.hpp"

#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr double smallest_type = 7.5;  // for printed values

void hatch(Canvas& canvas, const Rect& cell) {
  if (cell.width < 6 || cell.height < 6) return;
  const Rect inner = cell.inset(0.6);
  const double reach = inner.width + inner.height;
  for (double d = 3; d < reach; d += 6) {  // the lines x + y = d within the cell
    const double x0 = std::max(0.0, d - inner.height), x1 = std::min(d, inner.width);
    canvas.line({inner.x + x0, inner.y + d - x0}, {inner.x + x1, inner.y + d - x1},
                {mix(theme::missing, theme::ink, 0.28), 0.8});
  }
}

void cross_out(Canvas& canvas, const Rect& cell) {
  const double arm = std::min({cell.width, cell.height, 40.0}) * 0.11;
  if (arm < 1) return;
  const Point c = cell.centre();
  const Stroke stroke{mix(theme::masked, theme::ink, 0.25), 1.1};
  canvas.line({c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}, stroke);
  canvas.line({c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}, stroke);
}

// The size at which the longest printed value fits its cell, 0 when too small to read.
double value_size(const Heatmap& map, Size cell) {
  if (map.print == PrintValues::never) return 0;
  if (map.print == PrintValues::automatic && std::max(map.rows, map.columns) > 64) return 0;
  std::vector<std::string> texts;
  for (const double value : map.values) {
    if (!std::isnan(value)) texts.push_back(number_text(value, map.digits));
  }
  const double size = std::min({13.5, 0.82 * cell.width / widest(texts, {1}), 0.7 * cell.height});
  return size < smallest_type && map.print == PrintValues::automatic ? 0 : size;
}

// Neighbours share an edge exactly: both compute it from the same number.
Rect cell_at(const Canvas& canvas, const Rect& grid, const Heatmap& map, std::int64_t i,
             std::int64_t j) {
  const double width = grid.width / static_cast<double>(map.columns);
  const double height = grid.height / static_cast<double>(map.rows);
  const auto x = [&](std::int64_t edge) {
    return canvas.snap(grid.x + static_cast<double>(edge) * width);
  };
  const auto y = [&](std::int64_t edge) {
    return canvas.snap(grid.y + static_cast<double>(edge) * height);
  };
  return {x(j), y(i), x(j + 1) - x(j), y(i + 1) - y(i)};
}

Colour colour_of(const Heatmap& map, const ColourRange& range, std::size_t at) {
  if (!map.masked.empty() && map.masked[at]) return theme::masked;
  const double value = map.values[at];
  return std::isnan(value) ? theme::missing : colour_at(map.colours, range.share(value));
}

// The text on the colour of a cell.
void mark_cell(Canvas& canvas, const Rect& cell, const Heatmap& map, Colour colour, std::size_t at,
               double size) {
  if (!map.masked.empty() && map.masked[at]) return cross_out(canvas, cell);
  const double value = map.values[at];
  if (std::isnan(value)) return hatch(canvas, cell);
  if (!(size > 0)) return;
  TextStyle style{size, readable_on(colour), false, Align::centre, VerticalAlign::middle};
  if (style.colour == black && contrast_ratio(theme::ink, colour) >= 4.5) style.colour = theme::ink;
  canvas.text(cell.centre(), number_text(value, map.digits), style, Role::value);
}

// Thin lines separate neighbours; cells of masks are white or black, so their lines are neither.
void draw_lines_between(Canvas& canvas, const Rect& grid, const Heatmap& map, Size cell) {
  const bool grey = map.colours == ColourMap::greys;
  if (std::min(cell.width, cell.height) < (grey ? 5 : 10)) return;
  const Colour colour = grey ? theme::frame : theme::paper;
  const double width = 1 / canvas.scale();
  for (std::int64_t i = 1; i < map.rows; ++i) {
    const double y = canvas.snap(grid.y + static_cast<double>(i) * cell.height);
    canvas.fill_rect({grid.x, y, grid.width, width}, colour);
  }
  for (std::int64_t j = 1; j < map.columns; ++j) {
    const double x = canvas.snap(grid.x + static_cast<double>(j) * cell.width);
    canvas.fill_rect({x, grid.y, width, grid.height}, colour);
  }
}

void draw_row_labels(Canvas& canvas, const Rect& grid, const Heatmap& map,
                     const HeatmapLayout& layout) {
  TextStyle style = label_style();
  style.align = Align::right;
  style.vertical = VerticalAlign::middle;
  const double pitch = grid.height / static_cast<double>(map.rows);
  const std::int64_t stride =
      label_stride(pitch, (map.row_labels.empty() ? 1.8 : 1.15) * style.size);
  for (std::int64_t i = 0; i < map.rows; i += stride) {
    canvas.text({grid.x - 8, grid.y + (static_cast<double>(i) + 0.5) * pitch}, layout.row_labels[i],
                style, Role::row_label);
  }
}

void draw_column_labels(Canvas& canvas, const Rect& grid, const Heatmap& map,
                        const HeatmapLayout& layout) {
  TextStyle style = label_style();
  style.align = layout.turned ? Align::right : Align::centre;
  style.vertical = layout.turned ? VerticalAlign::middle : VerticalAlign::top;
  style.angle = layout.turned ? 90 : 0;
  const double pitch = grid.width / static_cast<double>(map.columns);
  const double needed =
      map.column_labels.empty() ? widest(layout.column_labels, style) + 10 : 1.15 * style.size;
  const std::int64_t stride = label_stride(pitch, needed);
  const double top = grid.bottom() + (layout.turned ? 8 : 5);
  for (std::int64_t j = 0; j < map.columns; j += stride) {
    canvas.text({grid.x + (static_cast<double>(j) + 0.5) * pitch, top},
                layout.column_labels[static_cast<std::size_t>(j)], style, Role::column_label);
  }
}

void draw_axis_names(Canvas& canvas, const Rect& grid, const Heatmap& map,
                     const HeatmapLayout& layout) {
  TextStyle style{type::label, theme::faded, false, Align::centre, VerticalAlign::middle};
  const Point centre = grid.centre();
  canvas.text({centre.x, grid.bottom() + layout.bottom - 8}, map.column_axis, style,
              Role::column_axis);
  style.angle = 90;
  // Of low maps the name is longer than the cells are high: it ends below the title.
  const double half = measure_text(map.row_axis, style).width / 2;
  canvas.text({grid.x - layout.left + 8, std::max(centre.y, grid.y - 14 + half)}, map.row_axis,
              style, Role::row_axis);
}

}  // namespace

void draw_cells(Canvas& canvas, const Rect& grid, const Heatmap& map, const ColourRange& range) {
  const Size cell{grid.width / static_cast<double>(map.columns),
                  grid.height / static_cast<double>(map.rows)};
  const double size = value_size(map, cell);
  std::vector<Colour> colours;
  for (std::size_t at = 0; at < map.values.size(); ++at) {
    colours.push_back(colour_of(map, range, at));
  }
  canvas.cells(grid, map.rows, map.columns, colours);
  for (std::int64_t i = 0; i < map.rows; ++i) {
    for (std::int64_t j = 0; j < map.columns; ++j) {
      const auto at = static_cast<std::size_t>(i * map.columns + j);
      mark_cell(canvas, cell_at(canvas, grid, map, i, j), map, colours[at], at, size);
    }
  }
  draw_lines_between(canvas, grid, map, cell);
  canvas.stroke_rect(canvas.snap(grid).inset(-0.25), {theme::frame, 0.8});
}

void draw_key(Canvas& canvas, Point at, const Heatmap& map) {
  const TextStyle style{type::tick, theme::faded, false, Align::left, VerticalAlign::middle};
  const auto entry = [&](const char* name, Colour colour, void (*mark)(Canvas&, const Rect&)) {
    const Rect place{at.x, at.y, bar_width, bar_width};
    canvas.fill_rect(place, colour);
    mark(canvas, place);
    canvas.text({at.x + bar_width + 7, at.y + bar_width / 2}, name, style, Role::legend);
    at.y += bar_width + 6;
  };
  if (std::any_of(map.values.begin(), map.values.end(), [](double v) { return std::isnan(v); })) {
    entry("NaN", theme::missing, hatch);
  }
  if (std::find(map.masked.begin(), map.masked.end(), true) != map.masked.end()) {
    entry("masked", theme::masked, cross_out);
  }
}

void draw(Canvas& canvas, Rect area, const Heatmap& heatmap) {
  check(heatmap);
  const PooledHeatmap map = pooled(heatmap);
  const Rect room = draw_title(canvas, area, map.title, map.subtitle);
  HeatmapLayout layout = layout_for(map, any_width);
  Size cell =
      fitted_cells(map, room.width - layout.left - layout.right, room.height - layout.bottom);
  layout = layout_for(map, cell.width);
  cell = fitted_cells(map, room.width - layout.left - layout.right, room.height - layout.bottom);
  const double width = cell.width * static_cast<double>(map.columns);
  const double height = cell.height * static_cast<double>(map.rows);
  const double spare = room.width - layout.left - layout.right - width;
  const Rect grid = canvas.snap(Rect{room.x + layout.left + spare / 2, room.y + 1, width, height});
  if (!(grid.width > 0 && grid.height > 0)) {  // less than half a pixel may become none
    throw Error(
        "heatmap: the area is too small for the labels; give it more room or leave out "
        "labels, axis names or the colour bar");
  }
  draw_cells(canvas, grid, map, layout.range);
  draw_row_labels(canvas, grid, map, layout);
  draw_column_labels(canvas, grid, map, layout);
  draw_axis_names(canvas, grid, map, layout);
  if (!map.colour_bar) return;
  const Rect bar{
      .x = grid.right() + bar_gap, .y = grid.y, .height = std::max(grid.height, shortest_bar)};
  draw_colour_bar(canvas, bar, map.colours, layout.range.low, layout.range.high,
                  map.colour_bar_name);
  draw_key(canvas, {bar.x, bar.bottom() + 10}, map);
}

Size natural_size(const Heatmap& heatmap) {
  check(heatmap);
  const PooledHeatmap map = pooled(heatmap);
  const Size cell = comfortable_cells(map);
  const HeatmapLayout layout = layout_for(map, cell.width);
  const double cells_height = cell.height * static_cast<double>(map.rows) + 1;
  const double width =
      std::max(layout.left + cell.width * static_cast<double>(map.columns) + layout.right, 260.0);
  double height = cells_height + layout.bottom;
  if (map.colour_bar) height = std::max(height, shortest_bar + 56);
  return {width, title_height(map.title, map.subtitle, width) + height};
}

Canvas render(const Heatmap& heatmap, std::optional<Size> size, double scale) {
  const Size natural = natural_size(heatmap);
  const Size whole = size.value_or(Size{natural.width + 2 * margin, natural.height + 2 * margin});
  Canvas canvas(whole.width, whole.height, scale);
  draw(canvas, canvas.area().inset(margin), heatmap);
  return canvas;
}

Heatmap attention_heatmap(std::vector<double> weights, std::vector<std::string> queries,
                          std::vector<std::string> keys, std::string title) {
  Heatmap map;
  map.rows = static_cast<std::int64_t>(queries.size());
  map.columns = static_cast<std::int64_t>(keys.size());
  map.values = std::move(weights);
  map.row_labels = std::move(queries);
  map.column_labels = std::move(keys);
  map.title = std::move(title);
  map.low = 0;
  if (map.columns <= 32) map.high = 1;
  map.colour_bar_name = "attention weight";
  return map;
}

}  // namespace tapestry::plot
