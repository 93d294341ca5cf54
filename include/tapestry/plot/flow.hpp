// Attention as arrows: queries on the left, keys on the right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

struct Flow {
  std::vector<std::string> queries = {}, keys = {};
  std::vector<double> weights = {};  // queries × keys, row by row, each from 0 to 1
  // Only links with at least this weight are drawn. Without one each query has its own: twice the
  // even weight of the keys that it sees (of a weight above 0), but at most one half.
  std::optional<double> threshold = {};
  std::string title = {}, subtitle = {};
};

// Draws an arrow per link, from query to key; width and opacity are its weight. Where both lists of
// words are the same, a link from a word to itself has another colour. Below, a legend tells what a
// width means and how many links, with how much of the attention, were left out (NaN too); a weight
// of 0, for example a masked one, is no link. More than 48 words of a list are cut off, and the
// legend says so.
// Throws Error when there are no words, when the number of weights is not queries × keys, for a
// weight or threshold outside 0 ... 1, and when the area is too small.
void draw(Canvas& canvas, Rect area, const Flow& flow);

// A picture of that width in logical units, as high as the words need.
[[nodiscard]] Canvas render(const Flow& flow, double width = 640, double scale = 2);

}  // namespace tapestry::plot
