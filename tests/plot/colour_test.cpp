#include "tapestry/plot/colour.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"

namespace tapestry::plot {
namespace {

constexpr ColourMap maps[] = {ColourMap::blues, ColourMap::oranges, ColourMap::viridis,
                              ColourMap::greys, ColourMap::blue_orange};

TEST_CASE("lightness and contrast agree with published values", "[phase0][plot]") {
  CHECK(std::abs(to_lab(white).L - 100) < 1e-3);
  CHECK(std::abs(to_lab(black).L) < 1e-9);
  const Lab red = to_lab({255, 0, 0});  // 53.24, 80.09, 67.20
  CHECK(std::abs(red.L - 53.24) < 0.01);
  CHECK(std::abs(red.a - 80.09) < 0.02);
  CHECK(std::abs(red.b - 67.20) < 0.02);
  CHECK(std::abs(contrast_ratio(black, white) - 21) < 1e-9);
  CHECK(std::abs(contrast_ratio({119, 119, 119}, white) - 4.48) < 0.005);
}

TEST_CASE("one-sided maps grow steadily lighter or darker", "[phase0][plot]") {
  for (const auto& [map, sign] : {std::pair{ColourMap::blues, -1.0},
                                  {ColourMap::oranges, -1.0},
                                  {ColourMap::greys, -1.0},
                                  {ColourMap::viridis, 1.0}}) {
    CAPTURE(static_cast<int>(map));
    for (int i = 4; i <= 256; i += 4) {
      const double before = to_lab(colour_at(map, (i - 4) / 256.0)).L;
      CHECK(sign * (to_lab(colour_at(map, i / 256.0)).L - before) > 0);
    }
    CHECK(std::abs(to_lab(colour_at(map, 1)).L - to_lab(colour_at(map, 0)).L) > 70);
  }
}

TEST_CASE("blue and orange maps are as dark at each value, and told apart", "[phase6][plot]") {
  for (int i = 0; i <= 16; ++i) {
    const Lab blue = to_lab(colour_at(ColourMap::blues, i / 16.0));
    const Lab orange = to_lab(colour_at(ColourMap::oranges, i / 16.0));
    CAPTURE(i);
    CHECK(std::abs(blue.L - orange.L) < 5);
    if (i >= 4) CHECK(orange.b - blue.b > 30);
  }
}

TEST_CASE("equal steps of a value look equally large", "[phase0][plot]") {
  for (const ColourMap map : maps) {
    CAPTURE(static_cast<int>(map));
    double least = 1e9, most = 0;
    for (int i = 0; i < 16; ++i) {
      const double step = difference(colour_at(map, i / 16.0), colour_at(map, (i + 1) / 16.0));
      least = std::min(least, step);
      most = std::max(most, step);
    }
    CHECK(most < 1.35 * least);
  }
}

TEST_CASE("the two-sided map is light in the middle and equally dark at both ends",
          "[phase0][plot]") {
  const auto lightness = [](double t) { return to_lab(colour_at(ColourMap::blue_orange, t)).L; };
  CHECK(lightness(0.5) > 97);
  for (int i = 0; i < 16; ++i) {
    CHECK(lightness(i / 32.0) < lightness((i + 1) / 32.0));
    CHECK(lightness(1 - i / 32.0) < lightness(1 - (i + 1) / 32.0));
    CHECK(std::abs(lightness(i / 32.0) - lightness(1 - i / 32.0)) < 8);
  }
  CHECK(to_lab(colour_at(ColourMap::blue_orange, 0)).b < -30);
  CHECK(to_lab(colour_at(ColourMap::blue_orange, 1)).b > 30);
}

TEST_CASE("text is readable on every colour of every map", "[phase0][plot]") {
  for (const ColourMap map : maps) {
    for (int i = 0; i <= 256; ++i) {
      const Colour colour = colour_at(map, i / 256.0);
      CHECK(contrast_ratio(readable_on(colour), colour) >= 4.5);
    }
  }
  CHECK(readable_on(white) == black);
  CHECK(readable_on(black) == white);
}

TEST_CASE("values outside the range take the ends, NaN its own grey", "[phase0][plot]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const ColourMap map : maps) {
    CHECK(colour_at(map, -3) == colour_at(map, 0));
    CHECK(colour_at(map, infinity) == colour_at(map, 1));
    CHECK(colour_at(map, std::nan("")) == theme::missing);
  }
  CHECK(mix(black, white, 0.5) == Colour{128, 128, 128});
  CHECK(mix(black, white, 7) == white);
}

}  // namespace
}  // namespace tapestry::plot
