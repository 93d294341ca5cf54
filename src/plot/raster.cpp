#include "plot/raster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapestry::plot {
namespace {

bool is_finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

// The pixels around all finite points, grown by `margin`, inside `clip`.
PixelBox bounds(const std::vector<Contour>& contours, double margin, const PixelBox& clip) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double left = infinity, top = infinity, right = -infinity, bottom = -infinity;
  for (const Contour& contour : contours) {
    for (const Point p : contour) {
      if (!is_finite(p)) continue;
      left = std::min(left, p.x);
      right = std::max(right, p.x);
      top = std::min(top, p.y);
      bottom = std::max(bottom, p.y);
    }
  }
  if (left > right) return {};
  const auto pixel = [](double value, int low, int high) {
    return static_cast<int>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
  };
  return {pixel(std::floor(left - margin), clip.left, clip.right),
          pixel(std::floor(top - margin), clip.top, clip.bottom),
          pixel(std::ceil(right + margin), clip.left, clip.right),
          pixel(std::ceil(bottom + margin), clip.top, clip.bottom)};
}

// Collects, per pixel, the signed change of covered area that an edge causes from that pixel on
// to the right; a running sum over each row then gives the coverage.
class AreaBuffer {
 public:
  explicit AreaBuffer(const PixelBox& box)
      : box_(box),
        stride_(box.width() + 2),
        change_(stride_ * static_cast<std::size_t>(box.height())) {}

  void add_edge(Point from, Point to) {
    if (from.y > to.y) {
      add_falling_edge(to, from, -1);
    } else {
      add_falling_edge(from, to, 1);
    }
  }

  Mask mask() const {
    Mask result{box_, {}};
    for (auto row = change_.begin(); row != change_.end(); row += stride_) {
      double sum = 0;
      for (int column = 0; column < box_.width(); ++column) {
        sum += row[column];
        result.coverage.push_back(static_cast<float>(std::min(1.0, std::abs(sum))));
      }
    }
    return result;
  }

 private:
  void add_falling_edge(Point from, Point to, double direction) {
    from = from - Point{static_cast<double>(box_.left), static_cast<double>(box_.top)};
    to = to - Point{static_cast<double>(box_.left), static_cast<double>(box_.top)};
    const double slope = (to.x - from.x) / (to.y - from.y);
    const double first = std::max(from.y, 0.0);
    const double last = std::min(to.y, static_cast<double>(box_.height()));
    for (double y = first; y < last;) {
      const double next = std::min(std::floor(y) + 1, last);
      const double x = from.x + slope * (y - from.y), next_x = from.x + slope * (next - from.y);
      add_in_row(static_cast<int>(y), std::min(x, next_x), std::max(x, next_x),
                 direction * (next - y));
      y = next;
    }
  }

  // An edge piece inside one row that spans x0..x1 and the signed height `rise`.
  void add_in_row(int row, double x0, double x1, double rise) {
    const double width = box_.width();
    const double low = std::clamp(x0, 0.0, width), high = std::clamp(x1, 0.0, width);
    const double per_x = x1 > x0 ? rise / (x1 - x0) : 0;
    double* change = &change_[row * stride_];
    if (per_x == 0) return spread(change, low, low, rise);
    if (x0 < 0) change[0] += per_x * (std::min(x1, 0.0) - x0);
    for (double x = low; x < high;) {
      const double next = std::min(std::floor(x) + 1, high);
      spread(change, x, next, per_x * (next - x));
      x = next;
    }
  }

  // Within one pixel column the area to the right of the piece starts at its mean x.
  static void spread(double* change, double x0, double x1, double rise) {
    const int column = static_cast<int>(x0);
    const double offset = (x0 + x1) / 2 - column;
    change[column] += rise * (1 - offset);
    change[column + 1] += rise * offset;
  }

  PixelBox box_;
  std::size_t stride_;
  std::vector<double> change_;
};

double distance_to_segment(Point p, Point from, Point to) {
  const Point along = to - from, offset = p - from;
  const double squared = along.x * along.x + along.y * along.y;
  const double t =
      squared > 0 ? std::clamp((offset.x * along.x + offset.y * along.y) / squared, 0.0, 1.0) : 0;
  const Point rest = offset - t * along;
  return std::sqrt(rest.x * rest.x + rest.y * rest.y);
}

// Cuts the segment to the box (Liang and Barsky, 1984); false when nothing is left.
bool clip_segment(Point& from, Point& to, const Rect& box) {
  const Point along = to - from;
  double enter = 0, leave = 1;
  const auto cut = [&](double speed, double room) {  // keeps t with speed × t ≤ room
    if (speed > 0) leave = std::min(leave, room / speed);
    if (speed < 0) enter = std::max(enter, room / speed);
    return enter <= leave;
  };
  const bool inside = cut(-along.x, from.x - box.x) && cut(along.x, box.right() - from.x) &&
                      cut(-along.y, from.y - box.y) && cut(along.y, box.bottom() - from.y);
  if (!inside) return false;
  const Point start = from;
  from = start + enter * along;
  to = start + leave * along;
  return true;
}

// Keeps the largest coverage, so that overlapping pieces of one stroke do not add up.
void stroke_piece(Mask& mask, Point from, Point to, double half_width) {
  const PixelBox box = bounds({{from, to}}, half_width, mask.box);
  const double most = std::min(1.0, 2 * half_width);  // very thin lines get paler, not thinner
  for (int y = box.top; y < box.bottom; ++y) {
    for (int x = box.left; x < box.right; ++x) {
      const double reach = half_width + 0.5 - distance_to_segment({x + 0.5, y + 0.5}, from, to);
      const std::size_t at = static_cast<std::size_t>(y - mask.box.top) * mask.box.width() +
                             static_cast<std::size_t>(x - mask.box.left);
      mask.coverage[at] =
          std::max(mask.coverage[at], static_cast<float>(std::clamp(reach, 0.0, most)));
    }
  }
}

void stroke_segment(Mask& mask, Point from, Point to, double half_width) {
  const Rect box{static_cast<double>(mask.box.left), static_cast<double>(mask.box.top),
                 static_cast<double>(mask.box.width()), static_cast<double>(mask.box.height())};
  if (!clip_segment(from, to, box.inset(-half_width))) return;
  constexpr double piece = 32;  // pixels; short pieces have small boxes to search
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int pieces = std::max(1, static_cast<int>(std::ceil(length / piece)));
  for (int i = 0; i < pieces; ++i) {
    stroke_piece(mask, between(from, to, static_cast<double>(i) / pieces),
                 between(from, to, static_cast<double>(i + 1) / pieces), half_width);
  }
}

}  // namespace

Mask fill_mask(const std::vector<Contour>& contours, const PixelBox& clip) {
  for (const Contour& contour : contours) {
    if (!std::all_of(contour.begin(), contour.end(), is_finite)) return {};
  }
  AreaBuffer area(bounds(contours, 0, clip));
  for (const Contour& contour : contours) {
    for (std::size_t i = 0; i < contour.size(); ++i) {
      area.add_edge(contour[i], contour[(i + 1) % contour.size()]);
    }
  }
  return area.mask();
}

Mask stroke_mask(const std::vector<Contour>& lines, double half_width, const PixelBox& clip) {
  if (!(half_width > 0) || !std::isfinite(half_width)) return {};
  Mask mask{bounds(lines, half_width, clip), {}};
  mask.coverage.assign(static_cast<std::size_t>(mask.box.width()) * mask.box.height(), 0.0f);
  for (const Contour& line : lines) {
    const auto segment = [&](Point from, Point to) {
      if (is_finite(from) && is_finite(to)) stroke_segment(mask, from, to, half_width);
    };
    if (line.size() == 1) segment(line.front(), line.front());
    for (std::size_t i = 1; i < line.size(); ++i) segment(line[i - 1], line[i]);
  }
  return mask;
}

}  // namespace tapestry::plot
