#include "tapestry/format.hpp"

#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <version>

namespace tapestry {

std::string formatted(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  va_end(arguments);
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

#ifdef __cpp_lib_to_chars
std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

bool read_number(std::string_view text, double& value) {
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  return problem == std::errc() && end == last;
}
#else  // libc++ 14, of the explorer's engine: whole numbers only; strtod there knows one locale
std::string exact_text(double value) {
  for (int digits = 15; digits < 17; ++digits) {
    const std::string text = formatted("%.*g", digits, value);
    if (std::strtod(text.c_str(), nullptr) == value) return text;
  }
  return formatted("%.17g", value);
}

bool read_number(std::string_view text, double& value) {
  const bool is_wider = text.find_first_of(" \t\n\v\f\r+xX") == 0 ||
                        text.find_first_of("xX") != text.npos;  // what only strtod reads
  if (text.empty() || is_wider) return false;
  const std::string copy(text);
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size();
}
#endif

}  // namespace tapestry
