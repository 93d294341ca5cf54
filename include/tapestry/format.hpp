// Numbers as text.
#pragma once

#include <string>

namespace tapestry {

// The text that printf would print. The compiler checks the arguments against the format.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

// The shortest text that reads back as the same number, whatever the locale.
std::string exact_text(double value);

}  // namespace tapestry
