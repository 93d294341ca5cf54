#include "course/storyteller_pictures.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {

plot::Canvas times_of_a_token(const std::vector<double>& before, const std::vector<double>& again,
                              const std::vector<double>& cached) {
  plot::LineChart chart{.title = "One more token, behind a text", .x_axis = {"tokens before it"}};
  chart.y_axis = {"milliseconds", true};
  chart.series = {{"all read again", before, again}, {"with the cache", before, cached}};
  return plot::render(chart);
}

plot::Canvas bars_of_tokens(const std::vector<TokenBars>& texts, std::size_t count) {
  plot::Canvas canvas(1240, 800, 1.5);
  const std::vector<plot::Rect> areas =
      plot::panels(canvas.area().inset(16), static_cast<int>(texts.size()), 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& [title, tokens, p] = texts[i];
    if (std::min(tokens.size(), p.size()) < count) throw Error("bars_of_tokens: too few tokens.");
    plot::BarChart chart{.title = title, .y_axis = {"probability", false, 0, 1}};
    chart.print_values = false;
    chart.series = {{"", {p.begin(), p.begin() + std::ptrdiff_t(count)}, {}}};
    for (std::size_t at = 0; at < count; ++at) {
      const std::string& token = tokens[at];
      chart.labels.push_back(token.starts_with(' ') ? "␣" + token.substr(1) : token);
    }
    plot::draw(canvas, areas[i], chart);
  }
  return canvas;
}

}  // namespace tapestry
