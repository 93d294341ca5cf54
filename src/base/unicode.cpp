#include "tapestry/unicode.hpp"

#include <algorithm>
#include <cstdio>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

std::size_t bytes_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+./:,@%").find(c) != std::string_view::npos;
}

// The length in bytes of the control character at the text's beginning; 0 if there is none.
std::size_t control_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const bool ascii = (first < ' ' && first != '\n') || first == 0x7F;
  const bool latin = first == 0xC2 && code_point_bytes(text) == 2 &&
                     static_cast<unsigned char>(text[1]) < 0xA0;  // U+0080 to U+009F
  return ascii ? 1 : latin ? 2 : 0;
}

std::string by_printf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "\\%03o", unsigned{static_cast<unsigned char>(byte)});
    if (byte != '\0') text += digits;
  }
  return "\"$(printf '" + text + "')\"";
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::size_t code_point_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = bytes_by_lead(byte(0));
  if (bytes < 2) return bytes;
  if (text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Two bytes show an overlong form, a surrogate (U+D800 to U+DFFF) and what is beyond U+10FFFF.
  const unsigned first = byte(0) << 8 | byte(1);
  const bool overlong = (first >= 0xE080 && first < 0xE0A0) || (first >= 0xF080 && first < 0xF090);
  const bool surrogate = first >= 0xEDA0 && first <= 0xEDBF;
  return overlong || surrogate || first >= 0xF490 ? 0 : bytes;
}

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

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string shown;
  while (!text.empty() && shown.size() < most) {
    const std::size_t bytes = code_point_bytes(text);
    const bool printable = bytes > 1 || (bytes == 1 && text[0] >= ' ' && text[0] != '\x7f');
    shown += printable ? text.substr(0, bytes) : "?";
    text.remove_prefix(bytes == 0 ? 1 : bytes);
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
