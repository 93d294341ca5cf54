#include "course/link_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/format.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry {
namespace {

// A row for each measure of the links of one head.
plot::Heatmap map_of(const MeasuredText& text, std::size_t head, double least) {
  plot::Heatmap map;
  const auto add = [&](const char* name, const std::vector<double>& row) {
    double greatest = 0;
    for (const double number : row) greatest = std::max(greatest, std::abs(number));
    for (const double number : row) map.values.push_back(number / std::max(greatest, least));
    map.row_labels.push_back(formatted("%s, %.3f", name, greatest));
  };
  const auto chance = [](const MeasuredLink& link) { return link.cut.log_probability; };
  const auto logit = [](const MeasuredLink& link) { return link.cut.logit; };
  const std::vector<MeasuredLink>& links = text.links.at(head);
  add("weight", numbers(links, &MeasuredLink::weight));
  add("grad x weight", numbers(links, &MeasuredLink::gradient));
  add("cut: logit", numbers(links, logit));
  add("cut: ln p", numbers(links, chance));
  add("all cut: ln p", numbers(text.cut_in_all, &Effect::log_probability));
  map.rows = std::ssize(map.row_labels), map.columns = std::ssize(text.reads);
  map.column_labels = text.reads;
  return map;
}

}  // namespace

std::string table_of_links(const MeasuredText& text, std::size_t head) {
  std::string table =
      "                                     cut in this head       cut in all heads\n"
      "word   weight  share  gradient     logit  log-probability    log-probability\n";
  for (std::size_t key = 0; key < text.reads.size(); ++key) {
    const MeasuredLink& link = text.links.at(head).at(key);
    table += formatted("%-6s %6.2f %6.2f %9.2f %9.2f %16.4f %18.4f\n", text.reads[key].c_str(),
                       link.weight, link.share, link.gradient, link.cut.logit,
                       link.cut.log_probability, text.cut_in_all.at(key).log_probability);
  }
  return table;
}

plot::Canvas maps_of_links(const MeasuredText& text, double least) {
  plot::Canvas canvas(1360, 720, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t head = 0; head < areas.size(); ++head) {
    plot::Heatmap map = map_of(text, head, least);
    map.title = "Head 1." + std::to_string(head);
    map.subtitle = "each row divided by its largest size, which stands on its left";
    map.row_axis = "", map.column_axis = "key, for the last query";
    map.colours = plot::ColourMap::blue_orange;
    map.low = -1, map.high = 1, map.colour_bar = false;
    plot::draw(canvas, areas[head], map);
  }
  return canvas;
}

}  // namespace tapestry
