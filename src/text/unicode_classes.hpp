// What kind of character a code point is, for tokenizers. Everything here is that of Unicode 15.0,
// with any version of utf8proc from 2.8 on: a code point that Unicode 15.0 had not assigned is not
// assigned, so that a text has the same tokens everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tapestry {

// A byte that is not part of valid UTF-8 is a character of its own; its point is U+FFFD.
struct Character {
  char32_t point;
  std::uint8_t bytes;  // 1 to 4
  bool valid;
};

Character long_character(const char* text, const char* end);  // the first one, from U+0080 on

inline Character first_character(const char* text, const char* end) {
  const auto byte = static_cast<unsigned char>(*text);
  return byte < 0x80 ? Character{byte, 1, true} : long_character(text, end);
}

// The text must not be empty. The last one of a text that is valid up to there, else its last byte.
inline Character first_character(std::string_view text) {
  return first_character(text.data(), text.data() + text.size());
}
Character last_character(std::string_view text);

// The four kinds that the patterns of GPT-2 and its successors tell apart.
enum class CharacterKind : std::uint8_t { letter, number, blank, other };
extern const CharacterKind ascii_kinds[128];
CharacterKind kind_of_long(char32_t point);
inline CharacterKind kind_of(char32_t point) {
  return point < 128 ? ascii_kinds[point] : kind_of_long(point);
}

bool is_newer(char32_t point);            // assigned after Unicode 15.0
bool is_blank(char32_t point);            // White_Space
bool is_number(char32_t point);           // category N
bool is_mark(char32_t point);             // category M
bool is_nonspacing_mark(char32_t point);  // category Mn
bool is_punctuation(char32_t point);      // category P, and all of ASCII's signs ($ + < and so on)
bool is_control(char32_t point);          // categories Cc, Cf, Co
bool is_word_character(char32_t point);   // \w: Alphabetic, M, Nd, Pc, Join_Control
bool is_assigned(char32_t point);

std::string lower_case(char32_t point);  // in full: two code points for U+0130

enum class NormalForm { nfc, nfd, nfkc, nfkd };
// Bytes that are not UTF-8 stay as they are.
std::string normal_form(std::string_view text, NormalForm form);

}  // namespace tapestry
