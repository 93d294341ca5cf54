#include "course/page.hpp"

#include <string>

#include "tapestry/plot/colour.hpp"

namespace tapestry {
namespace {

constexpr double width = 1240, border = 36, gap = 20, padding = 20, banner = 128, height = 452;
constexpr double column = (width - 2 * border - 2 * gap) / 3;

void draw_banner(plot::Canvas& canvas) {
  canvas.fill_rect({0, 0, width, banner}, {24, 32, 48});
  canvas.text({border, 64}, "Attention, measured", {42, plot::white, true});
  canvas.text({border, 98},
              "From the tape to a head that looks back. Every number here was computed by the "
              "program that drew this page.",
              {15, {190, 202, 220}});
  canvas.text({width - border, 66}, "softmax(Q Kᵀ / √d_k) V",
              {30, {255, 205, 120}, false, plot::Align::right});
}

}  // namespace

plot::Canvas page() {
  plot::Canvas canvas(width, banner + 8 + 4 * (height + gap) + 2 * gap, 1.6, {241, 244, 249});
  draw_banner(canvas);
  return canvas;
}

plot::Rect card(plot::Canvas& canvas, int down, int across, std::size_t phase, int wide) {
  const char* const names[] = {"THE TAPE", "ONE HEAD", "MANY HEADS", "SEEING", "CAUSAL MASKING"};
  const std::string name = "PHASE " + std::to_string(phase) + " · " + names[phase];
  const plot::Rect frame{border + across * (column + gap), banner + gap + 8 + down * (height + gap),
                         wide * column + (wide - 1) * gap, height};
  const plot::Colour colour = plot::series_colour(phase < 4 ? phase : 5);
  canvas.fill_rect(frame, plot::white, 12);
  canvas.stroke_rect(frame, {{222, 227, 235}, 1}, 12);
  canvas.fill_rect({frame.x + padding, frame.y, 46, 5}, colour);
  canvas.text({frame.x + padding, frame.y + 27}, name, {11.5, colour, true});
  return {frame.x + padding, frame.y + 40, frame.width - 2 * padding, height - 40 - padding};
}

}  // namespace tapestry
