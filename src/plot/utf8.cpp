#include "plot/utf8.hpp"

namespace tapestry::plot {
namespace {

constexpr char32_t replacement = 0xFFFD;

int continuation_bytes(unsigned char lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead <= 0xDF) return 1;
  if (lead >= 0xE0 && lead <= 0xEF) return 2;
  if (lead >= 0xF0 && lead <= 0xF4) return 3;
  return -1;
}

bool is_allowed(char32_t point, int extra) {  // no overlong forms, surrogates, or beyond Unicode
  static constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  return point >= smallest[extra] && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

int width_of(char32_t point) {
  if (point < 0x20 || (point >= 0x300 && point <= 0x36F) || point == 0x200B) return 0;
  const bool wide = (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0xA4CF) ||
                    (point >= 0xAC00 && point <= 0xD7A3) || (point >= 0xF900 && point <= 0xFAFF) ||
                    (point >= 0xFE30 && point <= 0xFE6F) || (point >= 0xFF00 && point <= 0xFF60) ||
                    (point >= 0x1F300 && point <= 0x1FAFF);
  return wide ? 2 : 1;
}

}  // namespace

std::vector<char32_t> decode_utf8(std::string_view text) {
  std::vector<char32_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int extra = continuation_bytes(lead);
    char32_t point = extra <= 0 ? lead : lead & (0x3F >> extra);
    int seen = 0;
    while (seen < extra && i + seen + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[i + seen + 1]);
      if ((next & 0xC0) != 0x80) break;
      point = (point << 6) | (next & 0x3F);
      ++seen;
    }
    const bool valid = extra >= 0 && seen == extra && is_allowed(point, extra);
    points.push_back(valid ? point : replacement);
    i += valid ? extra + 1 : 1;
  }
  return points;
}

std::string encode_utf8(char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](int shift) { return byte(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | (point >> 6)), tail(0)};
  if (point < 0x10000) return {byte(0xE0 | (point >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (point >> 18)), tail(12), tail(6), tail(0)};
}

int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t point : decode_utf8(text)) width += width_of(point);
  return width;
}

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

std::string cut_to_width(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string cut;
  int used = 0;
  for (const char32_t point : decode_utf8(text)) {
    if (used + width_of(point) > width - 1) break;
    used += width_of(point);
    cut += encode_utf8(point);
  }
  return cut + "…";
}

}  // namespace tapestry::plot
