#include "plot/utf8.hpp"

#include "tapestry/unicode.hpp"

namespace tapestry::plot {
namespace {

constexpr char32_t replacement = 0xFFFD;

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
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    char32_t point = bytes == 0 ? replacement : bytes == 1 ? lead : lead & (0x7F >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) point = point << 6 | (text[i] & 0x3F);
    points.push_back(point);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
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
