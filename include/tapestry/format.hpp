// Numbers as text.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>

namespace tapestry {

// The text that printf would print. The compiler checks the arguments against the format.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

// The shortest text that reads back as the same number, whatever the locale.
[[nodiscard]] std::string exact_text(double value);

// True if the whole text is one number, as std::from_chars reads it: no blanks, no "+", whatever
// the locale. It is then in `value`.
bool read_number(std::string_view text, double& value);
template <std::integral Number>
bool read_number(std::string_view text, Number& value) {
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  return problem == std::errc() && end == last;
}

}  // namespace tapestry
