// The words of a picture and their places, read from the list of its elements.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/diagram.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"

namespace tapestry::plot {

using Names = std::vector<std::string>;

// All elements of one kind, in the order of drawing.
template <class Kind>
std::vector<Kind> all(const Canvas& canvas) {
  std::vector<Kind> found;
  for (const Element& element : canvas.elements()) {
    if (const Kind* kind = std::get_if<Kind>(&element.what)) found.push_back(*kind);
  }
  return found;
}

// The texts with that role, and their words alone.
std::vector<Text> texts(const Canvas& canvas, Role role);
Names words(const Canvas& canvas, Role role);

// The middle of the capital letters, for any alignment and rotation; and the box, with sides along
// the axes, that holds its corners.
Point middle(const Text& text);
Rect bounds(const Text& text);

// The errors in the words of a picture: one is partly outside, is cut by a clip rectangle, or
// overlaps another. "" when all is well.
std::string trouble(const Canvas& canvas);

// The labels as they are written, with "…" where they are longer than 150 units.
Names shown(const Names& labels);

// Of long labels that end in many ways, the largest width that `width_of` finds after the cut.
template <class WidthOf>
double widest_cut(WidthOf width_of) {
  double widest = 0;
  for (const char other : std::string("mtraec")) {  // they shift where the last "i" ends
    for (std::size_t count = 0; count < 6; ++count) {
      widest = std::max(widest, width_of(std::string(count, other) + std::string(80, 'i')));
    }
  }
  return widest;
}

// Pictures of each kind, all with the title "Weights of one head".
namespace sample {
extern const Names sentence;  // with a word that is too long
Heatmap matrix(const Names& rows, const Names& columns);
Heatmap indices(std::int64_t rows, std::int64_t columns);
HeatmapGrid grid(const Names& words_of_maps);
LineChart lines(bool log);
BarChart bars(const Names& labels);
DotPlot dots(const Names& labels, bool rows);
Flow flow();
Diagram diagram(Direction direction);
}  // namespace sample

}  // namespace tapestry::plot
