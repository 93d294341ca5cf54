#include "plot/utf8.hpp"

#include <algorithm>

namespace tapestry::plot {

std::string visible(std::string_view text) {
  const std::vector<char32_t> points = decode_utf8(text);
  const auto is_blank = [](char32_t point) { return point == ' '; };
  const auto first = std::find_if_not(points.begin(), points.end(), is_blank);
  const auto last = std::find_if_not(points.rbegin(), points.rend(), is_blank).base();
  std::string shown;
  for (auto at = points.begin(); at != points.end(); ++at) {
    const char32_t point = *at;
    if (point == ' ' && (at < first || at >= last)) {
      shown += "␣";
    } else if (point == '\n') {
      shown += "↵";
    } else if (point == '\t') {
      shown += "⇥";
    } else {
      shown += is_control_code(point) ? "·" : encode_utf8(point);
    }
  }
  return shown;
}

}  // namespace tapestry::plot
