// Text of strangers: is it UTF-8, how to show it in a message, and how to hand it to a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tapestry {

// How many bytes the code point takes with which the text begins: 1 to 4, or 0 where the text is
// empty or not valid UTF-8 (a stray or missing byte, an overlong form, a surrogate).
std::size_t code_point_bytes(std::string_view text);

// Throws Error for text that is not UTF-8, with the first byte at fault.
void check_utf8(std::string_view text);

// The text in single quotes on one short line: control characters and bytes that are not UTF-8
// become '?', and what is longer than 60 bytes is cut.
std::string in_quotes(std::string_view text);

// The text as sh reads it back, to the byte, as one word of a command: as it is if nothing in it
// means anything to sh; else in single quotes; control characters, which a terminal would obey, by
// the command printf. Line ends stay as they are. NUL, which no word can hold, is left out.
std::string shell_quote(std::string_view text);

}  // namespace tapestry
