// The embedded typefaces: glyph outlines and widths.
#pragma once

#include <memory>
#include <vector>

#include "plot/raster.hpp"

namespace tapestry::plot {

class Font {
 public:
  // DejaVu Sans and its bold cut, embedded at build time.
  static const Font& sans();
  static const Font& bold();

  // Heights above (below, for descent) the baseline for type of size 1, positive.
  double ascent() const { return ascent_; }
  double descent() const { return descent_; }
  double cap_height() const { return cap_height_; }

  // The advance width for type of size 1, kerning with the next glyph included (0 at the end).
  double advance(char32_t point, char32_t next) const;

  // The outline for type of size 1 with the pen at the origin and y down; curves are flattened to
  // within `tolerance`.
  std::vector<Contour> outline(char32_t point, double tolerance) const;

 private:
  Font(const unsigned char* data, const unsigned char* end);

  struct Tables;  // stb_truetype's view of the font file
  std::shared_ptr<const Tables> tables_;
  double unit_;  // one font unit, for type of size 1
  double ascent_, descent_, cap_height_;
};

}  // namespace tapestry::plot
