// Boxes joined by arrows: the flow of data through attention, or a tape with its values.
//
//   Diagram flow;
//   const auto x = flow.add({"input x", {"6 × 64"}});
//   const auto q = flow.add({"Q = x W_Q", {"6 × 64"}});
//   flow.connect(x, q, "W_Q");
//   write_png(render(flow), "out/plots/flow.png");
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/colour.hpp"

namespace tapestry::plot {

// A small matrix of real numbers shown inside a box, as coloured cells.
struct Thumbnail {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values = {};  // row by row
  ColourMap colours = ColourMap::blue_orange;
  std::optional<double> low = {}, high = {};  // automatic as for Heatmap
};

struct Box {
  std::string title = {};
  std::vector<std::string> lines = {};  // details below the title: shapes, values
  std::optional<Thumbnail> thumbnail = {};
  Colour fill = {243, 246, 250};
  Rect frame = {};  // set by layout()
};

struct Arrow {
  std::size_t from = 0, to = 0;  // indexes into `boxes`
  std::string label = {};
  bool dashed = false;
  std::vector<Point> path = {};  // set by layout(), as is the middle of the label
  Point label_at = {};
};

enum class Direction { right, down };

struct Diagram {
  std::string title = {}, subtitle = {};
  Direction direction = Direction::right;
  std::vector<Box> boxes = {};
  std::vector<Arrow> arrows = {};

  // add returns the index of the new box; connect throws Error for indexes that do not exist.
  std::size_t add(Box box);
  void connect(std::size_t from, std::size_t to, std::string label = {});
};

// The size that a box needs for its words and thumbnail.
[[nodiscard]] Size box_size(const Box& box);

// Places boxes in layers (by the longest path from a box without incoming arrows) and routes arrows
// around boxes (after Sugiyama, Tagawa and Toda, 1981). Sets every frame and path, with the drawing
// at (0, 0); returns its size. Throws Error when there are no boxes, when an arrow joins boxes that
// do not exist, or when arrows form a cycle.
Size layout(Diagram& diagram);

// Draws into `area`, made smaller when it does not fit, centred. Same errors as layout().
void draw(Canvas& canvas, Rect area, const Diagram& diagram);

// A picture just large enough.
[[nodiscard]] Canvas render(const Diagram& diagram, double scale = 2);

}  // namespace tapestry::plot
