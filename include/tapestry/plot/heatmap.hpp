// A matrix as coloured cells, with words on its rows and columns. Made for attention weights: rows
// are queries, columns are keys, and the axes say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/colour.hpp"

namespace tapestry::plot {

enum class PrintValues { automatic, always, never };  // automatic: where they fit

struct Heatmap {
  std::int64_t rows = 0, columns = 0;
  // Row by row; NaN is hatched grey, ±∞ is clamped to the range.
  std::vector<double> values = {};

  std::vector<std::string> row_labels = {}, column_labels = {};  // empty: the indices are written
  std::string title = {}, subtitle = {};
  std::string row_axis = "query (rows)", column_axis = "key (columns)";  // "": no name

  ColourMap colours = ColourMap::blues;
  // Values at the ends of the colour map. Automatic: from the smallest value (from 0 when none is
  // negative) to the largest; for blue_orange as far below zero as above.
  std::optional<double> low = {}, high = {};

  PrintValues print = PrintValues::automatic;
  int digits = 2;

  bool colour_bar = true;
  std::string colour_bar_name = {};  // "attention weight", say

  std::vector<bool> masked = {};  // true: masked, drawn as a pale crossed cell, never printed
};

// Draws into `area`: cells as large as fit, centred. More than 1024 rows or columns are averaged in
// blocks with a note that says so.
// Throws Error when there are no rows or columns, when the sizes of values, labels or masked do not
// agree with rows × columns, or when the area leaves no pixel for the cells.
void draw(Canvas& canvas, Rect area, const Heatmap& heatmap);

// The size at which all labels fit and cells have their usual size; for render() and for panels.
[[nodiscard]] Size natural_size(const Heatmap& heatmap);

// A picture of `size` (natural_size when not given) in logical units.
[[nodiscard]] Canvas render(const Heatmap& heatmap, std::optional<Size> size = std::nullopt,
                            double scale = 2);

// The heatmap of attention weights over words: rows and columns labelled with the tokens, values
// from 0 to 1 (to the largest one when there are more than 32 keys, which all have small weights).
// `weights` is queries × keys, row by row.
[[nodiscard]] Heatmap attention_heatmap(std::vector<double> weights,
                                        std::vector<std::string> queries,
                                        std::vector<std::string> keys,
                                        std::string title = "Attention weights");

// Only the colour bar, with ticks, in `area`: for panels that share one.
void draw_colour_bar(Canvas& canvas, Rect area, ColourMap colours, double low, double high,
                     const std::string& name);

}  // namespace tapestry::plot
