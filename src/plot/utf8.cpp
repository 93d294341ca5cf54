#include "plot/utf8.hpp"

namespace tapestry::plot {

std::string visible(std::string_view text) {
  const std::vector<char32_t> points = decode_utf8(text);
  std::size_t first = 0, last = points.size();
  while (first < last && points[first] == ' ') ++first;
  while (last > first && points[last - 1] == ' ') --last;
  std::string shown;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const char32_t point = points[i];
    if (point == ' ' && (i < first || i >= last)) {
      shown += "␣";
    } else if (point == '\n') {
      shown += "↵";
    } else if (point == '\t') {
      shown += "⇥";
    } else {
      shown += point < 0x20 || point == 0x7F ? "·" : encode_utf8(point);
    }
  }
  return shown;
}

}  // namespace tapestry::plot
