#include "plot/group_labels.hpp"

#include <algorithm>

#include "plot/frame.hpp"
#include "plot/utf8.hpp"

namespace tapestry::plot {
namespace {

constexpr double longest_label = 130, label_line = 17;
const TextStyle label_style{type::label};

GroupLabels upright_labels(const std::vector<std::string>& labels, double pitch) {
  GroupLabels placed;
  placed.upright = true;
  placed.pitch = pitch;
  std::vector<std::string> cut;
  for (const std::string& label : labels) {
    cut.push_back(fit_text(visible(label), longest_label, label_style));
    placed.lines.push_back({cut.back()});
  }
  placed.height = 14 + widest(cut, label_style);
  return placed;
}

}  // namespace

GroupLabels group_labels(const std::vector<std::string>& labels, double pitch) {
  GroupLabels placed;
  placed.pitch = pitch;
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
  return upright_labels(labels, pitch);
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
