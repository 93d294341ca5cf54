#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {

void draw_colour_bar(Canvas& canvas, Rect area, ColourMap colours, double low, double high,
                     const std::string& name) {
  const Rect bar = canvas.snap(Rect{area.x, area.y, bar_width, area.height});
  const int steps = static_cast<int>(std::lround(bar.height * canvas.scale()));
  std::vector<Colour> shades;
  for (int i = 0; i < steps; ++i) shades.push_back(colour_at(colours, 1 - (i + 0.5) / steps));
  canvas.cells(bar, steps, 1, std::move(shades));
  canvas.stroke_rect(bar.inset(-0.25), {theme::frame, 0.8});
  const TextStyle style{type::tick, theme::faded, false, Align::left, VerticalAlign::middle};
  const std::vector<double> ticks = linear_ticks(low, high, area.height < 120 ? 3 : 5);
  const std::vector<std::string> texts = tick_texts(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double y = bar.bottom() - (ticks[i] - low) / (high - low) * bar.height;
    canvas.line({bar.right(), y}, {bar.right() + 3, y}, {theme::frame, 0.8});
    canvas.text({bar.right() + 7, y}, texts[i], style, Role::scale_tick);
  }
  TextStyle turned{type::subtitle, theme::faded, false, Align::centre, VerticalAlign::middle, 90};
  canvas.text({bar.right() + 7 + widest(texts, style) + 14, bar.centre().y},
              fit_text(name, std::max(bar.height + 40, 120.0), turned), turned, Role::scale);
}

}  // namespace tapestry::plot
