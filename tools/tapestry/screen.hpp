// Printing, at most 80 columns wide and without colour.
#pragma once

#include <string>

namespace tapestry::command {

// printf, to standard output; throws Error if it cannot be written (a full disk).
[[gnu::format(printf, 1, 2)]] void print(const char* format, ...);

// Flushes what was printed. Throws Error if any of it could not be written.
void flush();

// A warning: one line on standard error.
void warn(const std::string& words);

// The text padded with blanks after (left) or before it to `width` columns; longer ones end in "…".
std::string left(const std::string& text, int columns);
std::string right(const std::string& text, int columns);

// Lines of at most 80 columns, all but the first indented, broken between words.
std::string folded(const std::string& text, int indent);

// "--name value", quoted for a shell, and so that a value which begins with "-" is no option.
std::string shell_option(const std::string& name, const std::string& value);

}  // namespace tapestry::command
