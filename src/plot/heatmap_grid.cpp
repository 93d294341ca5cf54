#include "tapestry/plot/heatmap_grid.hpp"

#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr std::int64_t most_cells = 128;  // per side of a map; beyond, blocks are averaged
constexpr double gap = 14, caption = 18, name_room = 24, longest_word = 80, least_side = 16;
constexpr double word_pitch = 11.5;  // of cells, from which on words are written

// A grid with pooled maps, and their common settings.
struct Shared {
  std::vector<PooledHeatmap> maps;
  ColourRange range;
  std::int64_t rows{}, columns{};  // of maps
  bool same_words = false;         // all maps have the labels of the first
  std::string subtitle;
  const PooledHeatmap& first() const { return maps[0]; }
};

void check_grid(const HeatmapGrid& grid) {
  const std::string start = "heatmap grid: " + std::to_string(grid.maps.size()) + " maps in " +
                            std::to_string(grid.columns) + " columns ";
  if (grid.maps.empty() || grid.columns < 1) {
    throw Error(start + "show nothing; both must be at least 1");
  }
  for (std::size_t i = 0; i < grid.maps.size(); ++i) {
    check(grid.maps[i]);
    if (grid.maps[i].colours == grid.maps[0].colours) continue;
    throw Error(start + "share one colour bar, but map " + std::to_string(i) +
                " has another colour map than map 0");
  }
}

// The range from low and high of the first map, or from the values of all maps.
ColourRange common_range(const std::vector<PooledHeatmap>& maps) {
  Heatmap all;
  all.colours = maps[0].colours;
  all.low = maps[0].low;
  all.high = maps[0].high;
  for (const Heatmap& map : maps) {
    all.values.insert(all.values.end(), map.values.begin(), map.values.end());
    all.masked.insert(all.masked.end(), map.masked.begin(), map.masked.end());
    all.masked.resize(all.values.size(), false);
  }
  return range_of(all);
}

Shared prepare(const HeatmapGrid& grid) {
  check_grid(grid);
  Shared shared;
  const Heatmap& first = grid.maps.front();
  shared.same_words = !first.row_labels.empty() && !first.column_labels.empty();
  for (const Heatmap& map : grid.maps) {
    Heatmap plain = map;
    plain.subtitle = "";  // so that it holds at most the words on pooling
    plain.print = PrintValues::never;
    shared.maps.push_back(pooled(plain, most_cells));
    shared.same_words = shared.same_words && map.row_labels == first.row_labels &&
                        map.column_labels == first.column_labels;
  }
  shared.range = common_range(shared.maps);
  shared.columns = std::min(grid.columns, static_cast<std::int64_t>(grid.maps.size()));
  shared.rows = (static_cast<std::int64_t>(grid.maps.size()) + shared.columns - 1) / shared.columns;
  shared.subtitle = grid.subtitle;
  const std::string& note = shared.first().subtitle;
  if (!note.empty()) shared.subtitle += (shared.subtitle.empty() ? "" : " · ") + note;
  return shared;
}

TextStyle word_style() {
  TextStyle style = label_style();
  style.size = type::small;
  style.vertical = VerticalAlign::middle;
  style.align = Align::right;
  return style;
}

std::vector<std::string> cut(const std::vector<std::string>& words) {
  std::vector<std::string> shorter;
  for (const std::string& word : words)
    shorter.push_back(fit_text(word, longest_word, word_style()));
  return shorter;
}

// The layout: the panels with their captions, and the room for words and names around them.
struct GridLayout {
  double left = 0, bottom = 0, right = 0;
  bool words = false;
  std::vector<std::string> row_words, column_words;
};

GridLayout layout_of(const Shared& shared, Size cell) {
  const HeatmapLayout labels = layout_for(shared.first(), any_width);
  GridLayout layout;
  layout.words = shared.same_words && std::min(cell.width, cell.height) >= word_pitch;
  if (layout.words) {
    layout.row_words = cut(labels.row_labels);
    layout.column_words = cut(labels.column_labels);
    layout.left = widest(layout.row_words, word_style()) + 8;
    layout.bottom = widest(layout.column_words, word_style()) + 8;
  }
  layout.left += shared.first().row_axis.empty() ? 0 : name_room;
  layout.bottom += shared.first().column_axis.empty() ? 0 : name_room;
  layout.right = shared.first().colour_bar ? labels.right : 2;
  return layout;
}

// The cells' part of each panel, in `room`; all of one size, centred.
std::vector<Rect> place_maps(const Rect& room, const Shared& shared, const GridLayout& layout) {
  const Rect inner{room.x + layout.left, room.y, room.width - layout.left - layout.right,
                   room.height - layout.bottom};
  const double side_x = (inner.width - gap * static_cast<double>(shared.columns - 1)) /
                        static_cast<double>(shared.columns);
  const double side_y = (inner.height - gap * static_cast<double>(shared.rows - 1)) /
                            static_cast<double>(shared.rows) -
                        caption;
  const Size cell = fitted_cells(shared.first(), side_x, side_y);
  const Size map{cell.width * static_cast<double>(shared.first().columns),
                 cell.height * static_cast<double>(shared.first().rows)};
  if (!(std::min(map.width, map.height) >= 1 && std::max(map.width, map.height) >= least_side)) {
    throw Error("heatmap grid: the area is too small for the maps; give it more room");
  }
  std::vector<Rect> places;
  for (std::size_t k = 0; k < shared.maps.size(); ++k) {
    const auto i = static_cast<double>(static_cast<std::int64_t>(k) / shared.columns);
    const auto j = static_cast<double>(static_cast<std::int64_t>(k) % shared.columns);
    places.push_back({inner.x + j * (map.width + gap),
                      inner.y + caption + i * (map.height + caption + gap), map.width, map.height});
  }
  return places;
}

void draw_words(Canvas& canvas, const std::vector<Rect>& places, const Shared& shared,
                const GridLayout& layout) {
  TextStyle style = word_style();
  const auto columns = static_cast<std::size_t>(shared.columns);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Rect& place = places[k];
    const double down = place.height / static_cast<double>(layout.row_words.size());
    const double across = place.width / static_cast<double>(layout.column_words.size());
    style.angle = 0;
    for (std::size_t i = 0; i < layout.row_words.size() && k % columns == 0; ++i) {
      canvas.text({place.x - 5, place.y + (static_cast<double>(i) + 0.5) * down},
                  layout.row_words[i], style, Role::row_label);
    }
    style.angle = 90;
    if (k + columns < places.size()) continue;  // another map is below
    for (std::size_t j = 0; j < layout.column_words.size(); ++j) {
      canvas.text({place.x + (static_cast<double>(j) + 0.5) * across, place.bottom() + 5},
                  layout.column_words[j], style, Role::column_label);
    }
  }
}

// The names of axes and bar, once for all maps.
void draw_common(Canvas& canvas, const Rect& all, const Shared& shared, const GridLayout& layout) {
  const Heatmap& first = shared.first();
  TextStyle style{type::label, theme::faded, false, Align::centre, VerticalAlign::middle};
  canvas.text({all.centre().x, all.bottom() + layout.bottom - 8}, first.column_axis, style,
              Role::column_axis);
  style.angle = 90;
  canvas.text({all.x - layout.left + 8, all.centre().y}, first.row_axis, style, Role::row_axis);
  if (!first.colour_bar) return;
  const Rect bar{.x = all.right() + bar_gap,
                 .y = all.y + caption,
                 .height = std::clamp(all.height - caption, shortest_bar, 320.0)};
  draw_colour_bar(canvas, bar, first.colours, shared.range.low, shared.range.high,
                  first.colour_bar_name);
  Heatmap grey;  // of all maps together
  for (const Heatmap& map : shared.maps) {
    grey.values.insert(grey.values.end(), map.values.begin(), map.values.end());
    grey.masked.insert(grey.masked.end(), map.masked.begin(), map.masked.end());
  }
  draw_key(canvas, {bar.x, bar.bottom() + 10}, grey);
}

}  // namespace

void draw(Canvas& canvas, Rect area, const HeatmapGrid& grid) {
  const Shared shared = prepare(grid);
  const Rect room = draw_title(canvas, area, grid.title, shared.subtitle);
  const auto cell_of = [&](const Rect& place) {
    return Size{place.width / static_cast<double>(shared.first().columns),
                place.height / static_cast<double>(shared.first().rows)};
  };
  GridLayout layout = layout_of(shared, {});
  std::vector<Rect> places = place_maps(room, shared, layout);
  layout = layout_of(shared, cell_of(places.front()));  // with words, where the cells allow it
  places = place_maps(room, shared, layout);
  TextStyle style{type::subtitle, theme::ink};
  for (std::size_t k = 0; k < places.size(); ++k) {
    canvas.text({places[k].x, places[k].y - 5},
                fit_text(shared.maps[k].title, places[k].width + gap - 4, style), style,
                Role::title);
    draw_cells(canvas, canvas.snap(places[k]), shared.maps[k], shared.range);
  }
  if (layout.words) draw_words(canvas, places, shared, layout);
  const double right = places[static_cast<std::size_t>(shared.columns - 1)].right();
  const Rect all{places[0].x, places[0].y - caption, right - places[0].x,
                 places.back().bottom() - places[0].y + caption};
  draw_common(canvas, all, shared, layout);
}

Canvas render(const HeatmapGrid& grid, double side, double scale) {
  const Shared shared = prepare(grid);
  const Size cell = fitted_cells(shared.first(), side, side);
  const GridLayout layout = layout_of(shared, cell);
  const auto columns = static_cast<double>(shared.columns), rows = static_cast<double>(shared.rows);
  const double width =
      std::max(layout.left + columns * cell.width * static_cast<double>(shared.first().columns) +
                   (columns - 1) * gap + layout.right,
               320.0);
  const double map_height = cell.height * static_cast<double>(shared.first().rows);
  double height = rows * (map_height + caption) + (rows - 1) * gap + layout.bottom;
  if (shared.first().colour_bar) height = std::max(height, caption + shortest_bar + 56);
  height += title_height(grid.title, shared.subtitle, width);
  Canvas canvas(width + 2 * margin, height + 2 * margin, scale);
  draw(canvas, canvas.area().inset(margin), grid);
  return canvas;
}

}  // namespace tapestry::plot
