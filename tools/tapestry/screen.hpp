// Printing, at most 80 columns wide and without colour.
#pragma once

#include <string>

#include "tapestry/error.hpp"

namespace tapestry::command {

// Thrown to end the command with a status that tells scripts something. Without words nothing is
// said.
struct Exit : Error {
  int status;
  explicit Exit(int number, const std::string& words = "") : Error(words), status(number) {}
};

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

// On a terminal, clears the line that a Progress has written, for a row of a table.
void clear_progress_line();

// A word in printable form: blanks and line ends become visible characters.
std::string printable(const std::string& word);

// "--name value", quoted for a shell, and so that a value which begins with "-" is no option.
std::string shell_option(const std::string& name, const std::string& value);

}  // namespace tapestry::command
