#include "screen.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

constexpr const char* unwritable = "standard output cannot be written.";

std::string blanks(const std::string& text, int columns) {
  return std::string(static_cast<std::size_t>(columns - display_width(text)), ' ');
}

}  // namespace

void print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int written = std::vprintf(format, arguments);
  va_end(arguments);
  if (written < 0) throw Error(unwritable);
}

void flush() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Error(unwritable);
}

void warn(const std::string& words) {
  std::string line;
  for (const char32_t point : decode_utf8(words)) {
    line += is_control_code(point) ? " " : encode_utf8(point);
  }
  std::fprintf(stderr, "tapestry: %s\n", line.c_str());
}

std::string left(const std::string& text, int columns) {
  const std::string part = cut_to_width(text, columns);
  return part + blanks(part, columns);
}

std::string right(const std::string& text, int columns) {
  const std::string part = cut_to_width(text, columns);
  return blanks(part, columns) + part;
}

std::string folded(const std::string& text, int indent) {
  constexpr int columns = 80;
  std::string result, line(static_cast<std::size_t>(indent), ' ');
  bool first = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = cut_to_width(text.substr(begin, end - begin), columns - indent);
    if (display_width(line) + 1 + display_width(word) > columns && display_width(line) > indent) {
      result += line.substr(first ? static_cast<std::size_t>(indent) : 0) + "\n";
      first = false;
      line = std::string(static_cast<std::size_t>(indent), ' ');
    }
    line += (display_width(line) > indent ? " " : "") + word;
    begin = end + 1;
  }
  return result + line.substr(first ? static_cast<std::size_t>(indent) : 0);
}

std::string printable(const std::string& word) {
  if (word == " ") return "␣";
  if (word == "\n") return "↵";
  std::string safe = in_quotes(word);
  return safe.substr(1, safe.size() - 2);
}

void clear_progress_line() {
  if (isatty(2) == 1 && isatty(1) == 1) std::fputs("\r\033[K", stderr);
}

std::string shell_option(const std::string& name, const std::string& value) {
  return name + (value.starts_with("-") ? "=" : " ") + shell_quote(value);
}

}  // namespace tapestry::command
