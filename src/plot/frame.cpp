#include "plot/frame.hpp"

#include <algorithm>
#include <sstream>

#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double line_spacing = 1.3;
constexpr double legend_row = 20, swatch = 20, swatch_gap = 7, entry_gap = 22;

TextStyle title_style() {
  TextStyle style{type::title, theme::ink, true};
  style.vertical = VerticalAlign::top;
  return style;
}

TextStyle subtitle_style() {
  TextStyle style{type::subtitle, theme::faded};
  style.vertical = VerticalAlign::top;
  return style;
}

double draw_lines(Canvas* canvas, Point at, const std::vector<std::string>& lines,
                  const TextStyle& style, Role role) {
  double height = 0;
  for (const std::string& line : lines) {
    if (canvas != nullptr) canvas->text({at.x, at.y + height}, line, style, role);
    height += line_spacing * style.size;
  }
  return height;
}

// Draws with a canvas, only measures without one.
double title_block(Canvas* canvas, Rect area, const std::string& title,
                   const std::string& subtitle) {
  double height = 0;
  if (!title.empty()) {
    height += draw_lines(canvas, {area.x, area.y}, wrap(title, area.width, title_style()),
                         title_style(), Role::title);
  }
  if (!subtitle.empty()) {
    height +=
        draw_lines(canvas, {area.x, area.y + height}, wrap(subtitle, area.width, subtitle_style()),
                   subtitle_style(), Role::subtitle);
  }
  return height == 0 ? 0 : height + 12;
}

void draw_interval(Canvas& canvas, Point centre, Colour colour) {
  canvas.line(centre - Point{0, 7}, centre + Point{0, 7}, {colour, 1.4});
  canvas.line(centre - Point{3, 7}, centre + Point{3, -7}, {colour, 1.4});
  canvas.line(centre - Point{3, -7}, centre + Point{3, 7}, {colour, 1.4});
  canvas.line(centre - Point{6, 0}, centre + Point{6, 0}, {colour, 2.6});
}

void draw_swatch(Canvas& canvas, Point at, const LegendEntry& entry) {
  const Point centre{at.x + swatch / 2, at.y};
  if (entry.whiskers) return draw_interval(canvas, centre, entry.colour);
  if (!entry.line && !entry.marker) {
    canvas.fill_rect({centre.x - 6, centre.y - 6, 12, 12}, entry.colour, 2.5);
  }
  if (entry.line) {
    canvas.line({at.x + 1, at.y}, {at.x + swatch - 1, at.y},
                {entry.colour, 2.2, entry.dashed ? 5.0 : 0.0});
  }
  if (entry.marker && entry.hollow) canvas.stroke_circle(centre, 2.9, {entry.colour, 1.4});
  if (entry.marker && !entry.hollow) canvas.fill_circle(centre, 3.6, entry.colour);
}

}  // namespace

std::vector<std::string> wrap(const std::string& text, double width, const TextStyle& style) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.empty() ? word : lines.back() + " " + word;
    if (lines.empty() || measure_text(longer, style).width > width) {
      lines.push_back(fit_text(word, width, style));
    } else {
      lines.back() = longer;
    }
  }
  return lines;
}

double title_height(const std::string& title, const std::string& subtitle, double width) {
  return title_block(nullptr, {.width = width}, title, subtitle);
}

Rect draw_title(Canvas& canvas, Rect area, const std::string& title, const std::string& subtitle) {
  const double height = title_block(&canvas, area, title, subtitle);
  return {area.x, area.y + height, area.width, area.height - height};
}

Rect draw_legend(Canvas& canvas, Rect area, const std::vector<LegendEntry>& entries) {
  if (entries.empty()) return area;
  TextStyle style{type::subtitle, theme::ink};
  style.vertical = VerticalAlign::middle;
  double x = area.x, y = area.y + legend_row / 2;
  for (const LegendEntry& entry : entries) {
    const std::string name = fit_text(entry.name, area.width - swatch - swatch_gap, style);
    const double width = swatch + swatch_gap + measure_text(name, style).width;
    if (x > area.x && x + width > area.right()) {
      x = area.x;
      y += legend_row;
    }
    draw_swatch(canvas, {x, y}, entry);
    canvas.text({x + swatch + swatch_gap, y}, name, style, Role::legend);
    x += width + entry_gap;
  }
  const double height = y + legend_row / 2 + 8 - area.y;
  return {area.x, area.y + height, area.width, area.height - height};
}

std::size_t cells_of(const std::string& error_prefix, std::int64_t rows, std::int64_t columns) {
  std::size_t cells{};
  if (!__builtin_mul_overflow(rows, columns, &cells)) return cells;
  throw Error(error_prefix + ": " + std::to_string(rows) + " x " + std::to_string(columns) +
              " values are more than memory can hold");
}

double widest(const std::vector<std::string>& texts, const TextStyle& style) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, measure_text(text, style).width);
  return width;
}

}  // namespace tapestry::plot
