// Printed lines, split into words and numbers, so that they can be compared with a tolerance. Used
// by check_lessons.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace printed {

struct Number {
  double value;
  double unit;     // of its last printed digit: 0.01 for 1.25
  bool has_point;  // written with a decimal point
  std::string text;
  std::size_t start = 0;  // where it stands in its line
};

struct Line {
  std::string text;
  std::string words;  // the text without its numbers, each run of spaces as one
  std::vector<Number> numbers;
};

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// How many characters of `text` from `start` are digits.
inline std::size_t digits(const std::string& text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - start;
}

// Reads the unsigned number that starts at `start`, and moves `start` behind it.
inline Number read_number(const std::string& text, std::size_t& start) {
  std::size_t end = start + digits(text, start);
  std::size_t decimals = 0;
  if (end < text.size() && text[end] == '.') decimals = digits(text, end + 1);
  if (decimals > 0) end += 1 + decimals;
  int exponent = 0;
  if (end + 1 < text.size() && text[end] == 'e') {
    const std::size_t sign = text[end + 1] == '-' || text[end + 1] == '+' ? 1 : 0;
    if (const std::size_t more = digits(text, end + 1 + sign); more > 0) {
      exponent = std::stoi(text.substr(end + 1, sign + more));
      end += 1 + sign + more;
    }
  }
  Number number{0, std::pow(10.0, exponent - static_cast<double>(decimals)), decimals > 0,
                text.substr(start, end - start), start};
  std::from_chars(number.text.data(), number.text.data() + number.text.size(), number.value);
  start = end;
  return number;
}

// Removes a minus sign from the end of `words`, unless it joins two words as in "3-4".
inline bool take_minus(std::string& words) {
  for (const std::string minus : {"-", "\u2212"}) {
    if (!words.ends_with(minus)) continue;
    const std::size_t before = words.size() - minus.size();
    if (before > 0 &&
        (is_word(words[before - 1]) || words[before - 1] == '\x01' || words[before - 1] == ')')) {
      return false;
    }
    words.resize(before);
    return true;
  }
  return false;
}

// Splits a line into words and numbers. Digits inside a name (phase1, d_64) or in a version
// (1.2.3) belong to the words; a number leaves the mark \x01 there.
inline Line read_line(const std::string& text) {
  Line line{text, "", {}};
  std::size_t i = 0;
  while (i < text.size()) {
    if (is_word(text[i]) && !is_digit(text[i])) {
      while (i < text.size() && is_word(text[i])) line.words += text[i++];
    } else if (is_digit(text[i])) {
      std::size_t end = i;
      Number number = read_number(text, end);
      if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
        while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) line.words += text[i++];
        continue;
      }
      if (take_minus(line.words)) {
        number.value = -number.value;
        number.text = "-" + number.text;
      }
      line.words += '\x01';
      line.numbers.push_back(number);
      i = end;
    } else if (std::isspace(static_cast<unsigned char>(text[i]))) {
      if (!line.words.empty() && line.words.back() != ' ') line.words += ' ';
      ++i;
    } else {
      line.words += text[i++];
    }
  }
  while (line.words.ends_with(' ')) line.words.pop_back();
  return line;
}

// Edit distance of two texts (Levenshtein 1966), to name the line that was probably meant.
inline std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace printed
