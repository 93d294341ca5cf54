#include "course/text_units.hpp"

#include <cstdio>

#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

const plot::Axis vocabulary{.name = "tokens in the vocabulary", .log = true};

plot::Series curve(const char* name, const std::vector<TextUnits>& all,
                   double TextUnits::* number) {
  plot::Series series{.name = name, .markers = true};
  for (const TextUnits& units : all) {
    series.x.push_back(units.vocabulary);
    series.y.push_back(units.*number);
  }
  return series;
}

}  // namespace

void print_row(const TextUnits& units) {
  std::printf("%-22s %10.0f %14.0f %10.1f %%", units.name.c_str(), units.vocabulary,
              units.per_1000_bytes, 100 * units.known);
  if (units.bits_per_byte == 0) {
    std::printf("  %8.2f   (says nothing of <unk>)\n", units.loss);
  } else {
    std::printf("  %8.2f  %8.2f\n", units.loss, units.bits_per_byte);
  }
}

plot::Canvas picture_of_units(const std::vector<TextUnits>& all) {
  plot::LineChart lengths{.title = "How long a text gets",
                          .x_axis = vocabulary,
                          .y_axis = {.name = "tokens in 1000 bytes", .low = 0}};
  plot::LineChart losses{.title = "Two ways to count a loss",
                         .x_axis = vocabulary,
                         .y_axis = {.name = "loss of a held-out text", .low = 0}};
  lengths.series = {curve("", all, &TextUnits::per_1000_bytes)};
  losses.series = {curve("nats per token", all, &TextUnits::loss),
                   curve("bits per byte", all, &TextUnits::bits_per_byte)};
  std::vector<TokenRow> sentences;
  for (const TextUnits& units : all) sentences.push_back(units.pictured);
  plot::Canvas canvas(1200, 640);
  const plot::Rect area = canvas.area().inset(16);
  draw_tokens(canvas, {area.x, area.y, area.width, 230},
              "One sentence in tokens, after 0 to 4096 merges", sentences);
  const std::vector<plot::Rect> below =
      plot::panels({area.x, area.y + 245, area.width, area.height - 245}, 1, 2);
  plot::draw(canvas, below[0], lengths);
  plot::draw(canvas, below[1], losses);
  return canvas;
}

}  // namespace tapestry
