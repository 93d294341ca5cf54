#include "tapestry/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

struct CodePoint {
  char32_t value;
  std::size_t bytes;  // 0: there is none, or it is not valid
};

CodePoint first_of(std::string_view text) {
  utf8proc_int32_t value{};
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (bytes <= 0) return {0xFFFD, 0};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(bytes)};
}

int width_of(char32_t point) { return utf8proc_charwidth(static_cast<utf8proc_int32_t>(point)); }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+./:,@%").find(c) != std::string_view::npos;
}

// The length in bytes of the control character at the text's beginning; 0 if there is none, or a
// line end.
std::size_t control_bytes(std::string_view text) {
  const CodePoint first = first_of(text);
  return is_control_code(first.value) && first.value != U'\n' ? first.bytes : 0;
}

std::string by_printf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (byte != '\0') text += formatted("\\%03o", unsigned{static_cast<unsigned char>(byte)});
  }
  return "\"$(printf '" + text + "')\"";
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::size_t code_point_bytes(std::string_view text) { return first_of(text).bytes; }

void check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = code_point_bytes(text.substr(at));
    if (bytes == 0) {
      throw Error("the text is not UTF-8 at byte " + std::to_string(at) + " of " +
                  std::to_string(text.size()) + ". Convert it first: iconv -t UTF-8.");
    }
    at += bytes;
  }
}

std::vector<char32_t> decode_utf8(std::string_view text) {
  std::vector<char32_t> points;
  while (!text.empty()) {
    const CodePoint first = first_of(text);
    points.push_back(first.value);
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return points;
}

std::string encode_utf8(char32_t point) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes);
  return {bytes, bytes + count};
}

bool is_control_code(char32_t point) { return point < U' ' || (point >= 0x7F && point < 0xA0); }

int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t point : decode_utf8(text)) width += width_of(point);
  return width;
}

std::string cut_to_width(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns < 1) return "";
  std::string cut;
  int used = 0;
  for (const char32_t point : decode_utf8(text)) {
    used += width_of(point);
    if (used > columns - 1) break;
    cut += encode_utf8(point);
  }
  return cut + "…";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string shown;
  while (!text.empty() && shown.size() < most) {
    const CodePoint first = first_of(text);
    const bool printable = first.bytes > 0 && !is_control_code(first.value);
    shown += printable ? text.substr(0, first.bytes) : "?";
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return "'" + shown + (text.empty() ? "'" : "...'");
}

std::string shell_quote(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string quoted;
  while (!text.empty()) {  // a run of control characters, or of others
    const bool control = control_bytes(text) > 0;
    std::size_t end = 0;
    while (end < text.size() && (control_bytes(text.substr(end)) > 0) == control) {
      end += control ? control_bytes(text.substr(end)) : 1;
    }
    quoted += control ? by_printf(text.substr(0, end)) : in_single_quotes(text.substr(0, end));
    text.remove_prefix(end);
  }
  return quoted.empty() ? "''" : quoted;
}

}  // namespace tapestry
