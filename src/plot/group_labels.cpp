#include "plot/group_labels.hpp"

#include <algorithm>

#include "plot/frame.hpp"
#include "plot/utf8.hpp"

namespace tapestry::plot {
namespace {

constexpr double longest_label = 130, label_line = 17;
const TextStyle label_style{type::label};

}  // namespace

GroupLabels group_labels(const std::vector<std::string>& labels, double pitch) {
  GroupLabels placed{{}, false, pitch, 0};
  std::size_t most = 0;
  bool fits = true;
  for (const std::string& label : labels) {
    const std::string shown = visible(label);
    placed.lines.push_back(wrap(shown, pitch - 8, label_style));
    most = std::max(most, placed.lines.back().size());
    for (const std::string& line : placed.lines.back()) {
      fits = fits && shown.find(line) != std::string::npos;
    }
  }
  placed.height = 8 + label_line * static_cast<double>(most);
  if (fits && most <= 3) return placed;
  placed.upright = true;
  placed.height = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    placed.lines[i] = {fit_text(visible(labels[i]), longest_label, label_style)};
    placed.height = std::max(placed.height, 14 + widest(placed.lines[i], label_style));
  }
  return placed;
}

void draw_group_labels(Canvas& canvas, Point left_end, const GroupLabels& labels) {
  TextStyle style = label_style;
  style.align = labels.upright ? Align::right : Align::centre;
  style.vertical = labels.upright ? VerticalAlign::middle : VerticalAlign::top;
  style.angle = labels.upright ? 90 : 0;
  std::size_t stride = 1;
  while (labels.upright && static_cast<double>(stride) * labels.pitch < 1.15 * style.size) ++stride;
  for (std::size_t i = 0; i < labels.lines.size(); i += stride) {
    double y = left_end.y + 7;
    for (const std::string& line : labels.lines[i]) {
      canvas.text({left_end.x + (static_cast<double>(i) + 0.5) * labels.pitch, y}, line, style,
                  Role::x_tick);
      y += label_line;
    }
  }
}

}  // namespace tapestry::plot
