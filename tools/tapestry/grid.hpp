// Several heatmaps in one picture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry::command {

struct Grid {
  std::vector<plot::Heatmap> maps;  // row by row
  int columns = 1;
  std::string bar = {};  // what the colours mean; "": each map has a bar of its own
  std::string title = {};
};

// At most 16 rows and 16 columns are drawn; a note under the title says what is left out. With a
// common bar, all maps are drawn from 0 to 1. Throws Error as plot::write_png does.
void write_grid(Grid grid, const std::filesystem::path& path);

}  // namespace tapestry::command
