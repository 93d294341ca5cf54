#include "plot/typeface.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tapestry/error.hpp"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

extern "C" {  // from font.S
extern const unsigned char tapestry_font_sans[], tapestry_font_sans_end[];
extern const unsigned char tapestry_font_bold[], tapestry_font_bold_end[];
}

namespace tapestry::plot {

struct Font::Tables {
  stbtt_fontinfo info;
};

namespace {

// A quadratic with control point off the chord by d deviates d/2 from it; n pieces, d/(2n²).
void add_quadratic(Contour& contour, Point from, Point control, Point to, double tolerance) {
  const Point bend = 0.5 * (from + to) - control;
  const double stray = std::hypot(bend.x, bend.y) / 2;
  const int pieces = std::clamp(static_cast<int>(std::ceil(std::sqrt(stray / tolerance))), 1, 64);
  for (int i = 1; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    contour.push_back(between(between(from, control, t), between(control, to, t), t));
  }
}

}  // namespace

Font::Font(const unsigned char* data, const unsigned char* end) {
  auto tables = std::make_shared<Tables>();
  if (end - data < 1000 || stbtt_InitFont(&tables->info, data, 0) == 0) {
    throw Error(
        "plot: the embedded font is not a TrueType font; rebuild with DejaVu Sans installed");
  }
  unit_ = stbtt_ScaleForMappingEmToPixels(&tables->info, 1);
  int ascent, descent;
  stbtt_GetFontVMetrics(&tables->info, &ascent, &descent, nullptr);
  int top = 0;
  stbtt_GetCodepointBox(&tables->info, 'H', nullptr, nullptr, nullptr, &top);
  ascent_ = ascent * unit_;
  descent_ = -descent * unit_;
  cap_height_ = top * unit_;
  tables_ = std::move(tables);
}

const Font& Font::sans() {
  static const Font font(tapestry_font_sans, tapestry_font_sans_end);
  return font;
}

const Font& Font::bold() {
  static const Font font(tapestry_font_bold, tapestry_font_bold_end);
  return font;
}

double Font::advance(char32_t point, char32_t next) const {
  if (point < 0x20) return 0;
  int width, bearing;
  stbtt_GetCodepointHMetrics(&tables_->info, static_cast<int>(point), &width, &bearing);
  if (next != 0) {
    width += stbtt_GetCodepointKernAdvance(&tables_->info, static_cast<int>(point),
                                           static_cast<int>(next));
  }
  return width * unit_;
}

std::vector<Contour> Font::outline(char32_t point, double tolerance) const {
  std::vector<Contour> contours;
  if (point < 0x20) return contours;
  stbtt_vertex* vertices = nullptr;
  const auto count = static_cast<std::size_t>(
      stbtt_GetCodepointShape(&tables_->info, static_cast<int>(point), &vertices));
  const auto scaled = [this](int x, int y) { return Point{x * unit_, -y * unit_}; };
  for (const stbtt_vertex& vertex : std::span(vertices, count)) {
    const Point to = scaled(vertex.x, vertex.y);
    if (vertex.type == STBTT_vmove) {
      contours.push_back({to});
    } else if (vertex.type == STBTT_vline) {
      contours.back().push_back(to);
    } else {  // TrueType outlines have lines and quadratic curves only
      add_quadratic(contours.back(), contours.back().back(), scaled(vertex.cx, vertex.cy), to,
                    tolerance);
    }
  }
  stbtt_FreeShape(&tables_->info, vertices);
  return contours;
}

}  // namespace tapestry::plot
