// Untrusted text: validates UTF-8, and quotes it for messages and for a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tapestry {

// The length in bytes of the text's first code point: 1 to 4, or 0 if the text is empty or not
// valid UTF-8 (a stray or missing byte, an overlong form, a surrogate).
std::size_t code_point_bytes(std::string_view text);

// Throws Error for text that is not UTF-8, with the first wrong byte.
void check_utf8(std::string_view text);

// The text in single quotes on one short line: control characters and bytes that are not UTF-8
// become '?', and what is longer than 60 bytes is cut.
std::string in_quotes(std::string_view text);

// The text quoted as one word of an sh command that gives the same bytes: unquoted if nothing in it
// is special to sh, else in single quotes; control characters, which could command a terminal,
// through printf. Line ends stay as they are. NUL, which no word can hold, is left out.
std::string shell_quote(std::string_view text);

}  // namespace tapestry
