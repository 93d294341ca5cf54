#include "screen.hpp"

#include <cstdarg>
#include <cstdio>

#include "tapestry/error.hpp"
#include "tapestry/text/vocabulary.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

constexpr const char* unwritable = "standard output cannot be written.";

int width(const std::string& text) {
  int count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string shortened(const std::string& text, int columns) {
  if (width(text) <= columns) return text;
  const Words characters = split_characters(text);
  std::string part;
  for (int i = 0; i + 1 < columns; ++i) part += characters[static_cast<std::size_t>(i)];
  return part + "…";
}

std::string blanks(const std::string& text, int columns) {
  return std::string(static_cast<std::size_t>(columns - width(text)), ' ');
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
  std::string line = words;
  for (char& c : line) c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  std::fprintf(stderr, "tapestry: %s\n", line.c_str());
}

std::string left(const std::string& text, int columns) {
  const std::string part = shortened(text, columns);
  return part + blanks(part, columns);
}

std::string right(const std::string& text, int columns) {
  const std::string part = shortened(text, columns);
  return blanks(part, columns) + part;
}

std::string folded(const std::string& text, int indent) {
  constexpr int columns = 80;
  std::string result, line(static_cast<std::size_t>(indent), ' ');
  bool first = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word =
        left(text.substr(begin, end - begin),
             std::min(width(text.substr(begin, end - begin)), columns - indent));
    if (width(line) + 1 + width(word) > columns && width(line) > indent) {
      result += line.substr(first ? static_cast<std::size_t>(indent) : 0) + "\n";
      first = false;
      line = std::string(static_cast<std::size_t>(indent), ' ');
    }
    line += (width(line) > indent ? " " : "") + word;
    begin = end + 1;
  }
  return result + line.substr(first ? static_cast<std::size_t>(indent) : 0);
}

std::string shell_option(const std::string& name, const std::string& value) {
  return name + (value.starts_with("-") ? "=" : " ") + shell_quote(value);
}

}  // namespace tapestry::command
