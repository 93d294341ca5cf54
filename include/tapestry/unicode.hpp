// Text as UTF-8: its code points, how wide it is on a terminal, how to show it in a message, and
// how to hand it to a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

// The length in bytes of the text's first code point: 1 to 4, or 0 if the text is empty or not
// valid UTF-8 (a stray or missing byte, an overlong form, a surrogate).
[[nodiscard]] std::size_t code_point_bytes(std::string_view text);

// Throws Error for text that is not UTF-8, with the first wrong byte.
void check_utf8(std::string_view text);

// The code points of a text; every byte that is not part of valid UTF-8 becomes U+FFFD.
[[nodiscard]] std::vector<char32_t> decode_utf8(std::string_view text);
[[nodiscard]] std::string encode_utf8(char32_t point);

// Whether it is a control character (C0, DEL, C1: category Cc), which could command a terminal.
[[nodiscard]] bool is_control_code(char32_t point);

// How many columns of a terminal the text takes: wide signs (of East Asia, emoji) two, marks on the
// sign before them and control characters none.
[[nodiscard]] int display_width(std::string_view text);

// The text cut to this many columns; where something was cut, the last one is "…".
[[nodiscard]] std::string cut_to_width(std::string_view text, int columns);

// The text in single quotes on one short line: control characters and bytes that are not UTF-8
// become '?', and what is longer than 60 bytes is cut.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The text quoted as one word of an sh command that gives the same bytes: unquoted if nothing in it
// is special to sh, else in single quotes; control characters, which could command a terminal,
// through printf. Line ends stay as they are. NUL, which no word can hold, is left out.
[[nodiscard]] std::string shell_quote(std::string_view text);

}  // namespace tapestry
