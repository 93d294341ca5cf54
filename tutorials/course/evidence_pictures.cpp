#include "course/evidence_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/format.hpp"

namespace tapestry {

std::string evidence_line(const std::string& number, const std::vector<Evidence>& head,
                          double fall) {
  const std::string name = head_name(head);
  std::string line = formatted("%-13s %-15s", number.c_str(), name.c_str());
  // "induction" of "induction", "fixed offset" of "fixed offset -5"; none for "none"
  const auto one = std::ranges::find_if(
      head, [&](const Evidence& e) { return name.starts_with(to_string(e.pattern)); });
  if (one == head.end()) {
    line += std::string(41, ' ');
  } else {
    line += formatted(" %4.2f %3.0f%% %5.2f %5.2f %5.2f", one->score.mean, 100 * one->holds,
                      one->untrained.mean, one->uniform, one->shuffled.mean);
    const Evidence& control = head.at(static_cast<std::size_t>(Pattern::induction));
    line += control.letter.count == 0  // no word comes twice
                ? formatted("%8s %5s", "-", "-")
                : formatted("%8.2f %5.2f", control.letter.mean, control.place.mean);
  }
  return line + formatted(" %7.3f", fall);
}

plot::Heatmap evidence_map(const std::vector<std::string>& heads, std::size_t patterns,
                           const std::vector<double>& scores) {
  plot::Heatmap map;
  map.rows = std::ssize(heads);
  map.columns = static_cast<std::int64_t>(patterns);
  map.values = scores;
  for (double& score : map.values) {
    map.masked.push_back(std::isnan(score));
    if (std::isnan(score)) score = 0;
  }
  map.row_labels = heads;
  for (std::size_t i = 0; i < patterns; ++i) {
    map.column_labels.push_back(to_string(all_patterns.at(i)));
  }
  map.title = "Which patterns heads follow";
  map.subtitle = "mean score of 300 sentences; masked: no row can show it";
  map.row_axis = "model, layer.head";
  map.column_axis = "pattern";
  map.low = 0;
  map.high = 1;
  return map;
}

}  // namespace tapestry
