// Text in labels.
#pragma once

#include <string>
#include <string_view>

#include "tapestry/unicode.hpp"

namespace tapestry::plot {

// The text with invisible white space made visible: ␣ for blanks at either end, ↵ for line ends, ⇥
// for tabs, · for other control characters. For token labels.
std::string visible(std::string_view text);

}  // namespace tapestry::plot
