#include "course/tile_pictures.hpp"

#include <string>

#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

constexpr double cell = 13.5;  // of a pair: its side
constexpr plot::Point corner{40, 92};

plot::Rect box(Index query, Index key, Index pairs) {
  return {corner.x + cell * double(key), corner.y + cell * double(query), cell * double(pairs),
          cell * double(pairs)};
}

void draw_all(plot::Canvas& canvas, const TileMoment& now, Index length, Index size) {
  for (Index i = 0; i < length; i += size) {
    for (Index j = 0; j < length; j += size) {
      const plot::Rect tile = box(i, j, size);
      const bool met = i < now.query || (i == now.query && j <= now.key);
      const bool hidden = j > i;
      if (met) canvas.fill_rect(tile, hidden ? plot::theme::masked : plot::theme::missing);
      if (met && hidden) {
        canvas.line({tile.x, tile.y}, {tile.right(), tile.bottom()}, {plot::theme::frame});
      }
      canvas.stroke_rect(tile, {plot::theme::frame});
    }
  }
}

void draw_one(plot::Canvas& canvas, const TileMoment& now, Index size) {
  for (Index i = 0; i < size && !now.skipped; ++i) {
    for (Index j = 0; j < size; ++j) {
      const bool seen = now.key + j <= now.query + i;
      const plot::Colour colour =
          plot::colour_at(plot::ColourMap::blues, double{now.terms.at({i, j})});
      canvas.fill_rect(box(now.query + i, now.key + j, 1), seen ? colour : plot::theme::masked);
    }
  }
  const plot::Rect tile = box(now.query, now.key, size);
  const plot::Stroke mark{plot::series_colour(1), 2.5};
  canvas.stroke_rect(tile, mark);
  canvas.fill_rect({corner.x - 12, tile.y, 6, tile.height}, mark.colour);  // these queries,
  canvas.fill_rect({tile.x, corner.y - 12, tile.width, 6}, mark.colour);   // these keys
}

// A line for each query of the block, from tile to tile.
plot::LineChart chart_of(const char* title, const plot::Axis& tiles, const plot::Axis& values,
                         const std::vector<Tensor>& met, Index size) {
  plot::LineChart chart{.title = title, .x_axis = tiles, .y_axis = values};
  for (Index query = 0; query < size; ++query) {
    plot::Series line{"", {}, {}, true, true};
    for (const Tensor& of_queries : met) {
      line.x.push_back(double(line.x.size() + 1));
      line.y.push_back(double{of_queries.at({query, 0})});
    }
    chart.series.push_back(line);
  }
  return chart;
}

plot::Canvas frame(const TileMoment& now, Index length, Index size) {
  plot::Canvas canvas(960, 560, 1);
  const auto words = [size](Index first) {
    return std::to_string(first) + " to " + std::to_string(first + size - 1);
  };
  canvas.text({24, 34}, "Queries " + words(now.query) + " meet keys " + words(now.key),
              {.size = 18, .bold = true});
  canvas.text({24, 56},
              now.skipped ? "Nobody sees any of these: skipped"
                          : "Blue: exp(score - maximum). Dark grey: met, and forgotten",
              {.colour = plot::theme::faded});
  draw_all(canvas, now, length, size);
  draw_one(canvas, now, size);
  const std::vector<plot::Rect> panels = plot::panels({500, 16, 444, 536}, 3, 1, 8);
  const plot::Axis tiles{"", false, 0, double(length / size + 1)};
  plot::Axis named = tiles;
  named.name = "tiles met";
  plot::draw(
      canvas, panels[0],
      chart_of("Largest score so far, of each query", tiles, {"", false, -3, 6}, now.tops, size));
  plot::draw(canvas, panels[1],
             chart_of("Sum of exp(score - maximum)", tiles, {"", false, 0, 14}, now.totals, size));
  plot::draw(canvas, panels[2],
             chart_of("Output: distance from the final one", named, {"", false, 0, 4},
                      now.distances, size));
  return canvas;
}

}  // namespace

std::vector<plot::Canvas> film_of_tiles(const std::vector<TileMoment>& moments, Index length,
                                        Index size) {
  std::vector<plot::Canvas> frames;
  for (const TileMoment& now : moments) {
    frames.insert(frames.end(), now.skipped ? 1 : 3, frame(now, length, size));
  }
  if (!frames.empty()) frames.insert(frames.end(), 3, frames.back());
  return frames;
}

}  // namespace tapestry
