#include "tapestry/plot/geometry.hpp"

#include <string>

#include "tapestry/error.hpp"

namespace tapestry::plot {

std::vector<Rect> panels(Rect area, int rows, int columns, double gap) {
  const double width = (area.width - gap * (columns - 1)) / columns;
  const double height = (area.height - gap * (rows - 1)) / rows;
  if (rows < 1 || columns < 1 || !(width > 0) || !(height > 0)) {
    throw Error("panels: " + std::to_string(rows) + " x " + std::to_string(columns) +
                " panels do not fit; both must be positive and the gaps smaller than the area");
  }
  std::vector<Rect> result;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      result.push_back({area.x + j * (width + gap), area.y + i * (height + gap), width, height});
    }
  }
  return result;
}

}  // namespace tapestry::plot
