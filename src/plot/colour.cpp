#include "tapestry/plot/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace tapestry::plot {
namespace {

double linear_light(std::uint8_t channel) {  // IEC 61966-2-1
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t encoded(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double s = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * s));
}

// White of D65, and the constants of the CIE definition.
constexpr double white_x = 0.95047, white_z = 1.08883;
constexpr double kappa = 24389.0 / 27.0, epsilon = 8 / kappa;

double lab_curve(double t) { return t > epsilon ? std::cbrt(t) : (kappa * t + 16) / 116; }
double lab_curve_inverse(double f) {
  const double cube = f * f * f;
  return cube > epsilon ? cube : (116 * f - 16) / kappa;
}

Colour from_lab(const Lab& lab) {
  const double fy = (lab.L + 16) / 116;
  const double x = white_x * lab_curve_inverse(fy + lab.a / 500);
  const double y = lab_curve_inverse(fy);
  const double z = white_z * lab_curve_inverse(fy - lab.b / 200);
  return {encoded(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
          encoded(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z),
          encoded(0.0556434 * x - 0.2040259 * y + 1.0572252 * z)};
}

double distance(const Lab& p, const Lab& q) {
  return std::sqrt((p.L - q.L) * (p.L - q.L) + (p.a - q.a) * (p.a - q.a) +
                   (p.b - q.b) * (p.b - q.b));
}

double spline(double before, double from, double to, double after, double t) {  // Catmull-Rom
  return from + 0.5 * t *
                    (to - before +
                     t * (2 * before - 5 * from + 4 * to - after +
                          t * (3 * (from - to) + after - before)));
}

// A smooth curve through the anchors, sampled finely.
std::vector<Lab> curve_through(const std::vector<Colour>& anchors) {
  constexpr int steps = 200;
  const auto last = static_cast<int>(anchors.size()) - 1;
  const auto anchor = [&](int i) { return to_lab(anchors[std::clamp(i, 0, last)]); };
  std::vector<Lab> curve;
  for (int i = 0; i < last; ++i) {
    const Lab p = anchor(i - 1), q = anchor(i), r = anchor(i + 1), s = anchor(i + 2);
    for (int k = 0; k < steps; ++k) {
      const double t = static_cast<double>(k) / steps;
      curve.push_back({spline(p.L, q.L, r.L, s.L, t), spline(p.a, q.a, r.a, s.a, t),
                       spline(p.b, q.b, r.b, s.b, t)});
    }
  }
  curve.push_back(anchor(last));
  return curve;
}

using Table = std::array<Colour, 257>;  // odd, so that a two-sided map has a middle

// Fills table[first..last] with colours at equal distances along the curve.
void fill_uniformly(Table& table, int first, int last, const std::vector<Colour>& anchors) {
  const std::vector<Lab> curve = curve_through(anchors);
  std::vector<double> length(curve.size(), 0.0);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    length[i] = length[i - 1] + distance(curve[i - 1], curve[i]);
  }
  for (int i = first; i <= last; ++i) {
    const double wanted = length.back() * (i - first) / (last - first);
    const auto found = std::lower_bound(length.begin(), std::prev(length.end()), wanted);
    table[i] = from_lab(curve[static_cast<std::size_t>(found - length.begin())]);
  }
}

Table one_sided(const std::vector<Colour>& anchors) {
  Table table;
  fill_uniformly(table, 0, 256, anchors);
  return table;
}

Table two_sided(const std::vector<Colour>& lower, const std::vector<Colour>& upper) {
  Table table;
  fill_uniformly(table, 0, 128, lower);
  fill_uniformly(table, 128, 256, upper);
  return table;
}

const Table& table_of(ColourMap map) {
  static const Table blues = one_sided({{249, 251, 254},
                                        {212, 229, 245},
                                        {169, 202, 232},
                                        {119, 171, 217},
                                        {64, 137, 197},
                                        {17, 102, 168},
                                        {5, 69, 128},
                                        {9, 41, 84}});
  static const Table oranges = one_sided({{254, 251, 248},
                                          {250, 226, 204},
                                          {243, 195, 152},
                                          {230, 158, 98},
                                          {208, 119, 50},
                                          {168, 85, 24},
                                          {116, 54, 14},
                                          {72, 32, 10}});
  static const Table viridis = one_sided(
      {{66, 4, 84}, {66, 60, 133}, {44, 113, 142}, {33, 160, 135}, {110, 206, 88}, {252, 231, 40}});
  static const Table greys = one_sided({{255, 255, 255}, {128, 128, 128}, {10, 10, 10}});
  static const Table blue_orange =
      two_sided({{10, 66, 142}, {52, 127, 200}, {152, 197, 231}, {250, 250, 250}},
                {{250, 250, 250}, {240, 188, 140}, {203, 115, 48}, {128, 56, 12}});
  switch (map) {
    case ColourMap::blues:
      return blues;
    case ColourMap::oranges:
      return oranges;
    case ColourMap::viridis:
      return viridis;
    case ColourMap::greys:
      return greys;
    case ColourMap::blue_orange:
      return blue_orange;
  }
  return blues;
}

}  // namespace

Lab to_lab(Colour colour) {
  const double r = linear_light(colour.r), g = linear_light(colour.g), b = linear_light(colour.b);
  const double fx = lab_curve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / white_x);
  const double fy = lab_curve(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  const double fz = lab_curve((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / white_z);
  return {116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)};
}

double difference(Colour first, Colour second) { return distance(to_lab(first), to_lab(second)); }

double luminance(Colour colour) {
  return 0.2126 * linear_light(colour.r) + 0.7152 * linear_light(colour.g) +
         0.0722 * linear_light(colour.b);
}

double contrast_ratio(Colour first, Colour second) {
  const double one = luminance(first), two = luminance(second);
  return (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
}

Colour readable_on(Colour background) {
  return contrast_ratio(black, background) >= contrast_ratio(white, background) ? black : white;
}

Colour mix(Colour from, Colour to, double t) {
  const double share = std::clamp(t, 0.0, 1.0);
  const auto blend = [share](std::uint8_t p, std::uint8_t q) {
    return static_cast<std::uint8_t>(std::lround(p + share * (q - p)));
  };
  return {blend(from.r, to.r), blend(from.g, to.g), blend(from.b, to.b), blend(from.a, to.a)};
}

Colour colour_at(ColourMap map, double t) {
  if (std::isnan(t)) return theme::missing;
  return table_of(map)[static_cast<std::size_t>(std::lround(256 * std::clamp(t, 0.0, 1.0)))];
}

Colour series_colour(std::size_t index) {  // after Okabe and Ito (2008), the yellow darkened
  static constexpr std::array<Colour, 8> colours{{{0, 114, 178},
                                                  {213, 94, 0},
                                                  {0, 158, 115},
                                                  {204, 121, 167},
                                                  {86, 180, 233},
                                                  {184, 148, 0},
                                                  {92, 64, 150},
                                                  {70, 70, 70}}};
  return colours[index % colours.size()];
}

}  // namespace tapestry::plot
