// Colours, perceptually uniform colour maps, and readable text colours on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tapestry::plot {

// sRGB with straight (not premultiplied) opacity.
struct Colour {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  bool operator==(const Colour&) const = default;
};

inline constexpr Colour black{0, 0, 0};
inline constexpr Colour white{255, 255, 255};

// The colours that all charts and diagrams share.
namespace theme {
inline constexpr Colour paper{255, 255, 255};
inline constexpr Colour ink{31, 36, 46};         // titles, labels
inline constexpr Colour faded{96, 104, 118};     // subtitles, tick labels, notes
inline constexpr Colour frame{150, 157, 168};    // axes, arrows, outlines
inline constexpr Colour grid{229, 232, 237};     // lines behind the data
inline constexpr Colour missing{196, 199, 204};  // NaN
inline constexpr Colour masked{240, 241, 243};   // a query may not attend here
inline constexpr Colour accent{60, 66, 78};      // reference lines
}  // namespace theme

// CIE 1976 L*a*b* under D65; L runs from 0 (black) to 100 (white).
struct Lab {
  double L = 0, a = 0, b = 0;
};
[[nodiscard]] Lab to_lab(Colour colour);

// CIE 1976 colour difference: the Euclidean distance in Lab. About 2.3 is just noticeable.
[[nodiscard]] double difference(Colour first, Colour second);

// WCAG 2.1: relative luminance in [0, 1], and contrast ratio in [1, 21].
[[nodiscard]] double luminance(Colour colour);
[[nodiscard]] double contrast_ratio(Colour first, Colour second);

// Black or white, the one with the larger contrast on `background` (always at least 4.5).
[[nodiscard]] Colour readable_on(Colour background);

// Linear interpolation from `from` to `to` at t (clamped to [0, 1]), in sRGB.
[[nodiscard]] Colour mix(Colour from, Colour to, double t);

enum class ColourMap {
  blues,        // white to dark blue: the attention maps
  oranges,      // white to dark brown: other attention, beside blues
  viridis,      // dark violet through green to yellow
  greys,        // white to black: masks
  blue_orange,  // two-sided: blue below, white at 0.5, orange above; safe for the colour-blind
};

// The colour at t in [0, 1]; t outside is clamped, NaN gives theme::missing. Equal steps of t are
// equal steps in Lab (arc length along a curve through a few anchors).
[[nodiscard]] Colour colour_at(ColourMap map, double t);

// The colour of series number `index`; repeats after eight. Safe for the colour-blind.
[[nodiscard]] Colour series_colour(std::size_t index);

}  // namespace tapestry::plot
