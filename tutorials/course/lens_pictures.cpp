#include "course/lens_pictures.hpp"

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

void draw_word(plot::Canvas& canvas, plot::Rect cell, const std::string& word, double share) {
  const plot::Colour colour = plot::colour_at(plot::ColourMap::blues, share);
  canvas.fill_rect(cell.inset(1), colour);
  canvas.text(cell.centre(), word,
              {.colour = plot::readable_on(colour),
               .align = plot::Align::centre,
               .vertical = plot::VerticalAlign::middle},
              plot::Role::value);
}

}  // namespace

void draw_likeliest(plot::Canvas& canvas, const plot::Rect& area, const Words& read,
                    const std::vector<LikeliestWords>& rows) {
  canvas.text({area.x, area.y + 18}, "What six layers would say next", {.size = 17, .bold = true},
              plot::Role::title);
  canvas.text({area.x, area.y + 38}, "the likeliest word; the darker, the more probable", {},
              plot::Role::subtitle);
  const double left = 86, width = (area.width - left) / double(read.size());
  const double height = 54, top = area.y + 84;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const double x = area.x + left + double(i) * width;
    canvas.text({x + width / 2, top - 12}, read[i], {.bold = true, .align = plot::Align::centre},
                plot::Role::column_label);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& [point, words, p] = rows[row];
    if (words.size() != read.size() || p.size() != read.size()) {
      throw Error("draw_likeliest: \"" + point +
                  "\" does not say a word behind each that was read.");
    }
    const double y = top + double(row) * height;
    canvas.text({area.x + left - 10, y + height / 2}, point,
                {.align = plot::Align::right, .vertical = plot::VerticalAlign::middle},
                plot::Role::row_label);
    for (std::size_t i = 0; i < words.size(); ++i) {
      draw_word(canvas, {area.x + left + double(i) * width, y, width, height}, words[i], p[i]);
    }
  }
}

plot::LineChart loss_by_layer(const Tensor& lens, const Tensor& probes, double entropy) {
  plot::LineChart chart{.title = "Loss after each layer",
                        .subtitle = "three seeds",
                        .x_axis = {"layer (-1: the embedding)"},
                        .y_axis = {.name = "nats", .low = 1.4, .high = 3}};
  for (const bool by_lens : {true, false}) {
    const Tensor& losses = by_lens ? lens : probes;  // (seeds, points)
    std::string name = by_lens ? "lens" : "linear probe";
    for (Index seed = 0; seed < losses.size(0); ++seed) {
      plot::Series series{.name = name, .x = {}, .y = {}, .markers = true};
      series.colour = plot::series_colour(by_lens ? 0 : 1);
      for (Index point = 0; point < losses.size(1); ++point) {
        series.x.push_back(double(point) - 1);
        series.y.push_back(losses.at({seed, point}));
      }
      chart.series.push_back(series);
      name = "";  // once in the legend
    }
  }
  chart.reference_lines = {{.y = entropy, .label = "the grammar's entropy"}};
  return chart;
}

plot::Canvas lens_picture(const Words& read, const std::vector<LikeliestWords>& rows,
                          const plot::LineChart& losses) {
  plot::Canvas canvas(1400, 520, 1);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(20), 1, 2, 40);
  draw_likeliest(canvas, areas[0], read, rows);
  plot::draw(canvas, areas[1], losses);
  return canvas;
}

}  // namespace tapestry
