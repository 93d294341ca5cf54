#include "grid.hpp"

#include <algorithm>

#include "tapestry/plot/png.hpp"

namespace tapestry::command {
namespace {

constexpr int most = 16;

// The map without what would not be readable in a small panel.
plot::Heatmap small(plot::Heatmap map, bool common_bar) {
  map.row_axis = map.column_axis = "";
  if (!common_bar) return map;
  map.low = 0;
  map.high = 1;
  map.colour_bar = false;
  return map;
}

}  // namespace

void write_grid(Grid grid, const std::filesystem::path& path) {
  const int count = static_cast<int>(grid.maps.size());
  const int all_rows = (count + grid.columns - 1) / grid.columns;
  const int rows = std::min(all_rows, most), columns = std::min(grid.columns, most);
  const bool common = !grid.bar.empty();
  const double panel = std::max(rows, columns) > 8 ? 220 : 340;
  const double head = 70, bar = common ? 90 : 0;
  plot::Canvas canvas(std::max(columns * (panel + 24) + bar + 32, 500.0),
                      rows * (panel + 24) + head + 16, rows * columns > 16 ? 1 : 1.5);
  const plot::Rect area = {16, head, canvas.width() - 32 - bar, canvas.height() - head - 16};
  const auto panels = plot::panels(area, rows, columns);
  for (int i = 0; i < rows * columns; ++i) {
    const int source = i / columns * grid.columns + i % columns;
    if (source >= count) continue;
    plot::draw(canvas, panels[static_cast<std::size_t>(i)],
               small(std::move(grid.maps[static_cast<std::size_t>(source)]), common));
  }
  canvas.text({16, 30}, plot::fit_text(grid.title, canvas.width() - 32, {.size = 18}),
              {.size = 18, .bold = true});
  std::string note = common ? "rows: query, columns: key" : "";
  if (rows < all_rows || columns < grid.columns) note += " (only the first 16 × 16 are drawn)";
  canvas.text({16, 52}, note, {.size = 13, .colour = plot::theme::faded});
  if (common) {
    plot::draw_colour_bar(canvas, {canvas.width() - bar, head + 30, bar - 16, panel - 30},
                          plot::ColourMap::blues, 0, 1, grid.bar);
  }
  plot::write_png(canvas, path);
}

}  // namespace tapestry::command
