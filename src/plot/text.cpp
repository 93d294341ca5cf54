#include <cmath>
#include <numbers>

#include "plot/text_line.hpp"
#include "plot/typeface.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::plot {
namespace {

const Font& font_of(const TextStyle& style) { return style.bold ? Font::bold() : Font::sans(); }

bool is_word(char32_t point) {
  return (point >= '0' && point <= '9') || (point >= 'A' && point <= 'Z') ||
         (point >= 'a' && point <= 'z');
}

// 0 where there is none: before the first one, too, since -1 is the largest number.
char32_t point_at(const std::vector<char32_t>& points, std::size_t i) {
  return i < points.size() ? points[i] : U'\0';
}

// True if `i` is an underscore after a single letter, as in d_model or √d_k.
bool starts_subscript(const std::vector<char32_t>& points, std::size_t i) {
  const char32_t letter = point_at(points, i - 1);
  return points[i] == '_' && letter > '9' && is_word(letter) && is_word(point_at(points, i + 1)) &&
         !is_word(point_at(points, i - 2));
}

double horizontal_shift(double width, Align align) {
  return align == Align::left ? 0 : align == Align::centre ? -width / 2 : -width;
}

// The frame of an aligned and rotated text: from type of size 1 with its pen at the origin to
// logical units.
struct Placement {
  Point at, start;
  double c, s;

  Placement(const Text& text, double width)
      : at(text.at), start{horizontal_shift(width, text.style.align), base_line(text.style)} {
    const double angle = text.style.angle * std::numbers::pi / 180;
    c = text.style.size * std::cos(angle);
    s = text.style.size * std::sin(angle);
  }
  Point operator()(Point p) const {
    p = p + start;
    return at + Point{c * p.x + s * p.y, c * p.y - s * p.x};
  }
};

}  // namespace

TextLine set_line(std::string_view text, const TextStyle& style) {
  const Font& font = font_of(style);
  const std::vector<char32_t> points = decode_utf8(text);
  TextLine line;
  bool lowered = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (style.subscripts && starts_subscript(points, i)) {
      lowered = true;
      continue;
    }
    lowered = lowered && is_word(points[i]);
    const double size = lowered ? subscript_size : 1;
    line.glyphs.push_back({points[i], {line.width, lowered ? subscript_drop : 0}, size});
    line.width += size * font.advance(points[i], point_at(points, i + 1));
  }
  return line;
}

double base_line(const TextStyle& style) {
  const Font& font = font_of(style);
  switch (style.vertical) {
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

std::vector<Contour> outlines(const Text& text, double scale) {
  const Font& font = font_of(text.style);
  const TextLine line = set_line(text.words, text.style);
  const Placement place(text, line.width);
  const double tolerance = 0.05 / (text.style.size * scale);  // a twentieth of a pixel
  std::vector<Contour> contours;
  for (const Glyph& glyph : line.glyphs) {
    for (Contour& contour : font.outline(glyph.point, tolerance)) {
      for (Point& p : contour) p = place(glyph.size * p + glyph.pen);
      contours.push_back(std::move(contour));
    }
  }
  return contours;
}

std::array<Point, 4> corners(const Text& text) {
  const Font& font = font_of(text.style);
  const double width = set_line(text.words, text.style).width;
  const Placement place(text, width);
  return {place({0, -font.cap_height()}), place({width, -font.cap_height()}),
          place({width, font.descent()}), place({0, font.descent()})};
}

}  // namespace tapestry::plot
