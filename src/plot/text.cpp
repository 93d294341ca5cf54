#include <cmath>
#include <numbers>

#include "plot/typeface.hpp"
#include "plot/utf8.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {
namespace {

const Font& font_of(const TextStyle& style) { return style.bold ? Font::bold() : Font::sans(); }

// One sign of a line: where its pen starts and how large it is, for type of size 1.
struct Glyph {
  char32_t point;
  Point pen;
  double size;
};

struct Line {
  std::vector<Glyph> glyphs;
  double width = 0;
};

bool is_word(char32_t point) {
  return (point >= '0' && point <= '9') || (point >= 'A' && point <= 'Z') ||
         (point >= 'a' && point <= 'z');
}

// Is the sign at `i` an underscore after a letter that stands alone, as in d_model or √d_k?
bool starts_subscript(const std::vector<char32_t>& points, std::size_t i) {
  return points[i] == '_' && i > 0 && i + 1 < points.size() && points[i - 1] > '9' &&
         is_word(points[i - 1]) && is_word(points[i + 1]) && (i == 1 || !is_word(points[i - 2]));
}

Line set_line(std::string_view text, const TextStyle& style) {
  constexpr double subscript_size = 0.72, subscript_drop = 0.16;
  const Font& font = font_of(style);
  const std::vector<char32_t> points = decode_utf8(text);
  Line line;
  bool lowered = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (style.subscripts && starts_subscript(points, i)) {
      lowered = true;
      continue;
    }
    lowered = lowered && is_word(points[i]);
    const double size = lowered ? subscript_size : 1;
    line.glyphs.push_back({points[i], {line.width, lowered ? subscript_drop : 0}, size});
    line.width += size * font.advance(points[i], i + 1 < points.size() ? points[i + 1] : 0);
  }
  return line;
}

double vertical_shift(const Font& font, VerticalAlign vertical) {
  switch (vertical) {
    case VerticalAlign::top:
      return font.ascent();
    case VerticalAlign::middle:
      return font.cap_height() / 2;
    case VerticalAlign::bottom:
      return -font.descent();
    case VerticalAlign::baseline:
      break;
  }
  return 0;
}

double horizontal_shift(double width, Align align) {
  return align == Align::left ? 0 : align == Align::centre ? -width / 2 : -width;
}

}  // namespace

Size measure_text(std::string_view text, const TextStyle& style) {
  const Font& font = font_of(style);
  return {style.size * set_line(text, style).width, style.size * (font.ascent() + font.descent())};
}

std::string fit_text(std::string_view text, double width, const TextStyle& style) {
  if (measure_text(text, style).width <= width) return std::string(text);
  std::string fitted = "…", kept;
  for (const char32_t point : decode_utf8(text)) {
    kept += encode_utf8(point);
    if (measure_text(kept + "…", style).width > width) break;
    fitted = kept + "…";
  }
  return fitted;
}

void Canvas::text(Point at, std::string_view text, const TextStyle& style) {
  if (!(style.size > 0)) return;
  const Font& font = font_of(style);
  const Line line = set_line(text, style);
  const Point start{horizontal_shift(line.width, style.align),
                    vertical_shift(font, style.vertical)};
  const double angle = style.angle * std::numbers::pi / 180;
  const double c = style.size * std::cos(angle), s = style.size * std::sin(angle);
  const double tolerance = 0.05 / (style.size * scale_);  // a twentieth of a pixel
  std::vector<Contour> contours;
  for (const Glyph& glyph : line.glyphs) {
    for (Contour& contour : font.outline(glyph.point, tolerance)) {
      for (Point& p : contour) {
        p = glyph.size * p + glyph.pen + start;
        p = at + Point{c * p.x + s * p.y, c * p.y - s * p.x};
      }
      contours.push_back(std::move(contour));
    }
  }
  fill_contours(std::move(contours), style.colour);
}

}  // namespace tapestry::plot
