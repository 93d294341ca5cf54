#include "course/needs_pictures.hpp"

#include <string>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry {
namespace {

// What a column says of its word.
const std::string looked_at = "that it looks at", cut_off = "that is cut off",
                  swapped = "that is swapped";

plot::Heatmap map_of(const Words& places, const std::vector<double>& values,
                     const std::string& title, const std::string& column) {
  const bool is_weight = column == looked_at;
  plot::Heatmap map;
  map.rows = map.columns = std::ssize(places);
  map.values = values;
  map.row_labels = map.column_labels = places;
  map.title = title;
  map.row_axis = "the hidden word";
  map.column_axis = "the word " + column + " (diagonal: <mask>)";
  map.colours = is_weight ? plot::ColourMap::blues : plot::ColourMap::blue_orange;
  map.low = is_weight ? 0 : -9;
  map.high = is_weight ? 1 : 9;
  map.colour_bar = false;
  return map;
}

}  // namespace

plot::Canvas maps_of_needs(const std::array<Words, 2>& places, const std::array<Needs, 2>& needs) {
  plot::Canvas canvas(1380, 1000);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string form = "form " + std::to_string(i + 1) + ": ";
    plot::draw(canvas, panels[3 * i],
               map_of(places[i], needs[i].weight, form + "weight", looked_at));
    plot::draw(canvas, panels[3 * i + 1],
               map_of(places[i], needs[i].cut, form + "rise of the loss, cut", cut_off));
    plot::draw(canvas, panels[3 * i + 2],
               map_of(places[i], needs[i].swapped, form + "rise of the loss, swapped", swapped));
  }
  return canvas;
}

}  // namespace tapestry
