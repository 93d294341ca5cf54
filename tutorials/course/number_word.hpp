// Small numbers as words, for titles of pictures: "a dot for each of five seeds".
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace tapestry {

// "zero" to "ten"; others in digits.
inline std::string number_word(std::ptrdiff_t number) {
  constexpr std::array words = {"zero", "one",   "two",   "three", "four", "five",
                                "six",  "seven", "eight", "nine",  "ten"};
  const bool has_word = number >= 0 && number < std::ssize(words);
  return has_word ? words[static_cast<std::size_t>(number)] : std::to_string(number);
}

}  // namespace tapestry
