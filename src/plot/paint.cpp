#include "plot/paint.hpp"

#include <algorithm>
#include <cmath>

#include "plot/outlines.hpp"
#include "plot/raster.hpp"
#include "plot/text_line.hpp"

namespace tapestry::plot {
namespace {

// Between two whole pixels; NaN gives the low end.
int between_pixels(double value, int low, int high) {
  if (std::isnan(value)) return low;
  return static_cast<int>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
}

PixelBox clip_box(const Pixels& pixels, const std::optional<Rect>& area) {
  if (!area) return {0, 0, pixels.width, pixels.height};
  const auto edge = [&](double value, int most) {
    return between_pixels(std::round(value * pixels.scale), 0, most);
  };
  const int left = edge(area->x, pixels.width), top = edge(area->y, pixels.height);
  // Never before the others, or clamps between them would have swapped bounds.
  return {left, top, std::max(left, edge(area->right(), pixels.width)),
          std::max(top, edge(area->bottom(), pixels.height))};
}

// Draws elements of each kind, within the clip rectangle.
struct Painter {
  Pixels pixels;
  PixelBox clip;

  // Porter and Duff (1984): colour over what is there, with straight opacity.
  void blend(int column, int row, Colour colour, double coverage) const {
    if (coverage < 1.0 / 1024) return;
    Colour& below = pixels.colours[static_cast<std::size_t>(row) * pixels.width + column];
    const double above = coverage * colour.a / 255.0, rest = below.a / 255.0 * (1 - above);
    const double opacity = above + rest;
    if (!(opacity > 0)) return;
    const auto over = [&](std::uint8_t top, std::uint8_t bottom) {
      return static_cast<std::uint8_t>(std::lround((above * top + rest * bottom) / opacity));
    };
    below = {over(colour.r, below.r), over(colour.g, below.g), over(colour.b, below.b),
             static_cast<std::uint8_t>(std::lround(255 * opacity))};
  }

  void blend(const Mask& mask, Colour colour) const {
    const float* coverage = mask.coverage.data();
    for (int row = mask.box.top; row < mask.box.bottom; ++row) {
      for (int column = mask.box.left; column < mask.box.right; ++column) {
        blend(column, row, colour, *coverage++);
      }
    }
  }

  // Closed contours in logical units: united where they run the same way, cut out where opposite.
  void fill(std::vector<Contour> contours, Colour colour) const {
    for (Contour& contour : contours) {
      for (Point& p : contour) p = pixels.scale * p;
    }
    blend(fill_mask(contours, clip), colour);
  }

  void operator()(const FilledRect& shape) const {
    const double scale = pixels.scale;
    if (shape.corner_radius > 0) {
      return fill({rounded(shape.rect, shape.corner_radius, scale)}, shape.colour);
    }
    const double left = scale * shape.rect.x, right = scale * shape.rect.right();
    const double top = scale * shape.rect.y, bottom = scale * shape.rect.bottom();
    const int row_end = between_pixels(std::ceil(bottom), clip.top, clip.bottom);
    const int column_end = between_pixels(std::ceil(right), clip.left, clip.right);
    for (int row = between_pixels(std::floor(top), clip.top, clip.bottom); row < row_end; ++row) {
      const double height = std::min(bottom, row + 1.0) - std::max<double>(top, row);
      for (int column = between_pixels(std::floor(left), clip.left, clip.right);
           column < column_end; ++column) {
        const double width = std::min(right, column + 1.0) - std::max<double>(left, column);
        blend(column, row, shape.colour, width * height);
      }
    }
  }

  void operator()(const FilledCircle& shape) const {
    fill({circle(shape.centre, shape.radius, pixels.scale)}, shape.colour);
  }

  void operator()(const FilledPolygon& shape) const {
    fill(std::vector<Contour>(1, shape.points), shape.colour);
  }

  void operator()(const Polyline& shape) const {
    std::vector<Contour> pieces(1, shape.points);
    for (Point& p : pieces[0]) p = pixels.scale * p;
    const double width = shape.stroke.width * pixels.scale, dash = shape.stroke.dash * pixels.scale;
    if (dash > 0) pieces = dashes(pieces[0], dash, width);
    blend(stroke_mask(pieces, width / 2, clip), shape.stroke.colour);
  }

  // Neighbours share an edge exactly: both compute it from the same number.
  void operator()(const Cells& block) const {
    const double width = block.area.width / static_cast<double>(block.columns);
    const double height = block.area.height / static_cast<double>(block.rows);
    const auto edge = [&](double start, std::int64_t i, double size, int low, int high) {
      const double at = start + static_cast<double>(i) * size;
      return between_pixels(std::round(at * pixels.scale), low, high);
    };
    const auto y = [&](std::int64_t i) {
      return edge(block.area.y, i, height, clip.top, clip.bottom);
    };
    const auto x = [&](std::int64_t j) {
      return edge(block.area.x, j, width, clip.left, clip.right);
    };
    for (std::int64_t i = 0; i < block.rows; ++i) {
      for (std::int64_t j = 0; j < block.columns; ++j) {
        const Colour colour = block.colours[static_cast<std::size_t>(i * block.columns + j)];
        for (int row = y(i); row < y(i + 1); ++row) {
          for (int column = x(j); column < x(j + 1); ++column) blend(column, row, colour, 1);
        }
      }
    }
  }

  void operator()(const Text& text) const { fill(outlines(text, pixels.scale), text.style.colour); }
};

}  // namespace

void paint(Pixels pixels, const Element& element) {
  std::visit(Painter{pixels, clip_box(pixels, element.clip)}, element.what);
}

}  // namespace tapestry::plot
