#include "course/classifier_pictures.hpp"

#include "course/number_word.hpp"
#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/dot_plot.hpp"

namespace tapestry {
namespace {

plot::DotPlot chart_of_models(const ClassifierResults& results) {
  const std::size_t seeds = results.models.empty() ? 0 : results.models.front().second.size();
  plot::DotPlot chart{.title = "Sentences told right"};
  chart.subtitle = "a dot for each of " + number_word(std::ptrdiff_t(seeds)) + " seeds";
  chart.value_axis = {"share", false, 0, 1.05};
  chart.series.push_back({"", {}, plot::series_colour(2)});  // blue, orange: padding_picture
  for (const auto& [name, shares] : results.models) {
    chart.labels.push_back(name);
    chart.series[0].groups.push_back({shares, {}});
  }
  chart.reference_lines = {{0.2, "guessing"},
                           {results.first_word, "the first word alone", plot::theme::frame}};
  return chart;
}

// Adds a line for each seed; the first one has the name.
void add_lines(plot::LineChart& chart, const std::string& name, plot::Colour colour,
               const std::vector<double>& lengths, const std::vector<Shares>& by_length) {
  const std::size_t seeds = by_length.empty() ? 0 : by_length[0].size();
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    plot::Series line{seed == 0 ? name : "", lengths, {}, true, true};
    for (const Shares& shares : by_length) line.y.push_back(shares[seed]);
    line.colour = colour;
    chart.series.push_back(line);
  }
}

plot::Heatmap map_of(const HeadsLook& look) {
  std::vector<std::string> heads;
  for (Index head = 0; head < look.weights.size(0); ++head) {
    heads.push_back("head " + std::to_string(head));
  }
  plot::Heatmap map =
      attention_heatmap(look.weights, heads, look.sentence.words, to_string(look.sentence.form));
  map.row_axis = map.column_axis = "";
  map.colour_bar = false;
  return map;
}

}  // namespace

std::string text_of_shares(const NamedShares& rows) {
  std::string text(18, ' ');
  const std::size_t seeds = rows.empty() ? 0 : rows.front().second.size();
  for (std::size_t seed = 1; seed <= seeds; ++seed) text += formatted(" seed %zu", seed);
  text += "\n";
  for (const auto& [name, shares] : rows) {
    text += formatted("%-18s", name.c_str());
    for (const double share : shares) text += formatted(" %6.3f", share);
    text += "\n";
  }
  return text;
}

plot::Canvas classifier_picture(const ClassifierResults& results) {
  plot::Canvas canvas(1360, 610, 1.5);
  plot::draw(canvas, {16, 16, 1328, 320}, chart_of_models(results));
  canvas.text({16, 364},
              "Five orders: where the four heads of seed 1 look (mean over all queries)");
  plot::Rect area{16, 376, 260, 220};
  for (const HeadsLook& look : results.looks) {
    plot::draw(canvas, area, map_of(look));
    area.x += 267;
  }
  return canvas;
}

plot::Canvas padding_picture(const SharesByLength& shares) {
  const std::size_t seeds = shares.lengths.empty() ? 0 : shares.pad_left_out.front().size();
  const std::string number = number_word(std::ptrdiff_t(seeds));
  plot::LineChart chart{.title = "The same sentences in longer rows"};
  chart.subtitle = "a line for each of " + number + " seeds";
  chart.x_axis = {"length of the row", true};
  chart.y_axis = {"share told right", false, 0, 1};
  add_lines(chart, "<pad> as a word", plot::series_colour(0), shares.lengths, shares.pad_as_word);
  add_lines(chart, "<pad> left out: all " + number, plot::series_colour(1), shares.lengths,
            shares.pad_left_out);
  return plot::render(chart);
}

}  // namespace tapestry
