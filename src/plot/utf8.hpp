// Text as code points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapestry::plot {

// The code points of UTF-8 text; every byte that is not part of valid UTF-8 becomes U+FFFD.
std::vector<char32_t> decode_utf8(std::string_view text);

std::string encode_utf8(char32_t point);

// Columns that the text takes in a terminal: 0 for combining marks, 2 for wide East Asian signs.
int display_width(std::string_view text);

// The text with white space that would be lost made visible: ␣ for blanks at either end, ↵ for
// line ends, ⇥ for tabs, · for other control characters. For token labels.
std::string visible(std::string_view text);

// The text cut to `width` terminal columns, the last one "…" where something was cut.
std::string cut_to_width(std::string_view text, int width);

}  // namespace tapestry::plot
