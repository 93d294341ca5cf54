#include "text/normalizer.hpp"

#include <utility>

#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

// Each character of the text becomes what `change(character, its bytes)` appends to the result.
template <class Change>
std::string by_character(std::string_view text, Change change) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    change(next, text.substr(0, next.bytes), result);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string without(std::string_view text, bool (*removed)(char32_t)) {
  return by_character(text, [&](const Character& c, std::string_view bytes, std::string& result) {
    if (!removed(c.point)) result += bytes;
  });
}

std::string lowered(std::string_view text) {
  return by_character(text, [](const Character& c, std::string_view bytes, std::string& result) {
    if (c.valid) {
      result += lower_case(c.point);
    } else {
      result += bytes;
    }
  });
}

// As BERT does: control characters go, and all white space becomes a space.
std::string cleaned(std::string_view text) {
  return by_character(text, [](const Character& c, std::string_view bytes, std::string& result) {
    if (is_blank(c.point)) {
      if (c.point == '\v' || c.point == '\f' || c.point == 0x85) return;  // Cc
      result += ' ';
    } else if (c.point != 0xFFFD && !is_control(c.point)) {
      result += bytes;
    }
  });
}

bool is_chinese(char32_t point) {
  // The fourth is two blocks, side by side.
  constexpr std::pair<char32_t, char32_t> blocks[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F},
      {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F}};
  for (const auto& [first, last] : blocks) {
    if (first <= point && point <= last) return true;
  }
  return false;
}

std::string with_chinese_apart(std::string_view text) {
  return by_character(text, [](const Character& c, std::string_view bytes, std::string& result) {
    const bool apart = is_chinese(c.point);
    if (apart) result += ' ';
    result += bytes;
    if (apart) result += ' ';
  });
}

std::string stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && is_blank(first_character(text).point)) {
    text.remove_prefix(first_character(text).bytes);
  }
  while (right && !text.empty() && is_blank(last_character(text).point)) {
    text.remove_suffix(last_character(text).bytes);
  }
  return std::string(text);
}

std::string bert(const NormalizerStep& step, std::string text) {
  if (step.clean) text = cleaned(text);
  if (step.chinese) text = with_chinese_apart(text);
  if (step.accents) text = without(normal_form(text, NormalForm::nfd), is_nonspacing_mark);
  return step.lower ? lowered(text) : text;
}

}  // namespace

std::string replaced(const std::string& text, const std::string& pattern,
                     const std::string& content) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = text.find(pattern); at != text.npos; at = text.find(pattern, done)) {
    result.append(text, done, at - done).append(content);
    done = at + pattern.size();
  }
  return result.append(text, done);
}

std::string normalised(const NormalizerStep& step, const std::string& text) {
  using Kind = NormalizerStep::Kind;
  switch (step.kind) {
    case Kind::nfc:
      return normal_form(text, NormalForm::nfc);
    case Kind::nfd:
      return normal_form(text, NormalForm::nfd);
    case Kind::nfkc:
      return normal_form(text, NormalForm::nfkc);
    case Kind::nfkd:
      return normal_form(text, NormalForm::nfkd);
    case Kind::lower:
      return lowered(text);
    case Kind::strip_accents:
      return without(text, is_mark);
    case Kind::prepend:
      return text.empty() ? text : step.content + text;
    case Kind::replace:
      return replaced(text, step.pattern, step.content);
    case Kind::strip:
      return stripped(text, step.left, step.right);
    case Kind::bert:
      return bert(step, text);
  }
  return text;
}

std::string normalised(const std::vector<NormalizerStep>& steps, std::string text) {
  for (const NormalizerStep& step : steps) text = normalised(step, text);
  return text;
}

}  // namespace tapestry
