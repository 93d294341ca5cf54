#include "tapestry/plot/colour.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

TEST_CASE("all primary colours have their published places and luminances", "[phase0][plot]") {
  const auto check_lab = [](Colour colour, Lab expected) {
    const Lab lab = to_lab(colour);
    CHECK(std::abs(lab.L - expected.L) < 0.01);
    CHECK(std::abs(lab.a - expected.a) < 0.02);
    CHECK(std::abs(lab.b - expected.b) < 0.02);
  };
  check_lab(white, {100, 0, 0});
  check_lab({0, 255, 0}, {87.74, -86.18, 83.18});
  check_lab({0, 0, 255}, {32.30, 79.19, -107.86});
  CHECK(std::abs(luminance({255, 0, 0}) - 0.2126) < 1e-9);
  CHECK(std::abs(luminance({0, 255, 0}) - 0.7152) < 1e-9);
  CHECK(std::abs(luminance({0, 0, 255}) - 0.0722) < 1e-9);
  const Lab red = to_lab({255, 0, 0}), blue = to_lab({0, 0, 255});
  CHECK(difference({255, 0, 0}, {0, 0, 255}) ==
        Approx(std::hypot(red.L - blue.L, red.a - blue.a, red.b - blue.b)));
}

// L of greys around both bends: of the encoding at 0.04045, of the lightness at 216 / 24389.
TEST_CASE("dark greys have the lightness of the formulas", "[phase0][plot]") {
  const auto light = [](int grey) { return grey / 255.0 / 12.92; };
  const auto curved = [](int grey) { return std::pow((grey / 255.0 + 0.055) / 1.055, 2.4); };
  const auto L = [](int grey) {
    const auto channel = static_cast<std::uint8_t>(grey);
    return to_lab({channel, channel, channel}).L;
  };
  const double slope = 903.2963;  // 24389 / 27
  CHECK(L(1) == Approx(slope * light(1)).epsilon(1e-5));
  CHECK(L(7) == Approx(slope * light(7)).epsilon(1e-5));
  CHECK(L(10) == Approx(slope * light(10)).epsilon(1e-5));
  CHECK(L(11) == Approx(slope * curved(11)).epsilon(1e-5));
  CHECK(L(20) == Approx(slope * curved(20)).epsilon(1e-5));
  CHECK(L(22) == Approx(slope * curved(22)).epsilon(1e-5));
  CHECK(L(25) == Approx(116 * std::cbrt(curved(25)) - 16).epsilon(1e-5));
}

TEST_CASE("series have eight colours in turn", "[phase0][plot]") {
  const Colour wanted[] = {{0, 114, 178},  {213, 94, 0},  {0, 158, 115}, {204, 121, 167},
                           {86, 180, 233}, {184, 148, 0}, {92, 64, 150}, {70, 70, 70}};
  for (std::size_t i = 0; i < 16; ++i) CHECK(series_colour(i) == wanted[i % 8]);
}

// As snapshot.hpp says of pictures: it tells only that a colour changed.
TEST_CASE("maps have the colours that they had", "[phase0][plot]") {
  const auto hash = [](ColourMap map) {
    std::uint64_t sum = 0;
    for (int i = 0; i <= 256; ++i) {
      const Colour c = colour_at(map, i / 256.0);
      for (const int channel : {c.r, c.g, c.b}) sum = sum * 1099511628211u + unsigned(channel);
    }
    return sum;
  };
  CHECK(hash(ColourMap::blues) == 0xEE3104F33230B5E2u);
  CHECK(hash(ColourMap::oranges) == 0xDAD6D4B65C7028E4u);
  CHECK(hash(ColourMap::viridis) == 0x8D6BC69BF07770FEu);
  CHECK(hash(ColourMap::greys) == 0xDFE6DD92EDE335F4u);
  CHECK(hash(ColourMap::blue_orange) == 0xC5FD9611F8FAC4EAu);
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
