#include "text/split_patterns.hpp"

#include <algorithm>
#include <string>

#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

struct Known {
  std::string_view expression;
  SplitPattern pattern;
};

constexpr SplitPattern three_digits = {true, true, 3};

constexpr Known known[] = {
    // GPT-2
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2_pattern},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2_pattern},
    // GPT-4 and Llama 3
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     three_digits},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     three_digits},
    // Qwen 2
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     qwen2_pattern},
};

// A text with a place in it.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at)
      : begin_(text.data()), at_(begin_ + at), end_(begin_ + text.size()) {}

  bool at_end() const { return at_ == end_; }
  std::size_t place() const { return static_cast<std::size_t>(at_ - begin_); }
  Character character() const { return first_character(at_, end_); }
  CharacterKind kind() const { return kind_of(character().point); }
  bool is(CharacterKind wanted) const { return !at_end() && kind() == wanted; }
  bool is_byte(char wanted) const { return !at_end() && *at_ == wanted; }
  bool is_line_end() const { return is_byte('\r') || is_byte('\n'); }
  void step() { at_ += character().bytes; }
  void skip(CharacterKind wanted) {
    while (is(wanted)) step();
  }

 private:
  const char *begin_, *at_, *end_;
};

// Bytes of an ending like 's or 'll at an apostrophe; 0: there is none.
std::size_t ending(std::string_view text, bool any_case) {
  constexpr std::string_view long_s = "\xC5\xBF";  // a small s, if case does not matter
  if (any_case && text.substr(1).starts_with(long_s)) return 3;
  std::string two(text.substr(1, 2));
  if (any_case) {
    for (char& c : two) c |= 0x20;  // small letters have this bit
  }
  if (std::string_view("stmd").find(two[0]) != std::string_view::npos) return 2;
  return two == "re" || two == "ve" || two == "ll" ? 3 : 0;
}

// From a blank: all that follow, but the last, if more text follows, is left for the next piece.
std::size_t blanks_end(Scanner scan, bool lines) {
  std::size_t before_last = scan.place(), behind_line = 0;
  const std::size_t begin = scan.place();
  while (scan.is(CharacterKind::blank)) {
    const bool line_end = scan.is_line_end();
    before_last = scan.place();
    scan.step();
    if (lines && line_end) behind_line = scan.place();
  }
  if (behind_line > 0) return behind_line;
  return scan.at_end() || before_last == begin ? scan.place() : before_last;
}

std::size_t letters_end(Scanner scan) {
  scan.skip(CharacterKind::letter);
  return scan.place();
}

std::size_t gpt2_end(Scanner begin) {
  Scanner scan = begin;
  if (scan.is_byte(' ')) scan.step();
  if (scan.at_end() || scan.is(CharacterKind::blank)) return blanks_end(begin, false);
  scan.skip(scan.kind());
  return scan.place();
}

std::size_t line_end(const SplitPattern& pattern, Scanner begin) {
  Scanner scan = begin;
  const CharacterKind first = scan.kind();
  if (first == CharacterKind::letter) return letters_end(scan);
  if (first == CharacterKind::number) {
    for (std::size_t i = 0; i < pattern.digits && scan.is(CharacterKind::number); ++i) scan.step();
    return scan.place();
  }
  scan.step();
  if (!begin.is_line_end() && scan.is(CharacterKind::letter)) return letters_end(scan);
  if (!begin.is_byte(' ')) scan = begin;
  if (!scan.is(CharacterKind::other)) return blanks_end(begin, true);
  scan.skip(CharacterKind::other);
  while (scan.is_line_end()) scan.step();
  return scan.place();
}

}  // namespace

std::optional<SplitPattern> known_pattern(std::string_view expression) {
  for (const Known& each : known) {
    if (each.expression == expression) return each.pattern;
  }
  return std::nullopt;
}

std::size_t piece_end(const SplitPattern& pattern, std::string_view text, std::size_t begin) {
  if (text[begin] == '\'') {
    const std::size_t bytes = ending(text.substr(begin), pattern.any_case);
    if (bytes > 0) return begin + bytes;
  }
  const Scanner scan(text, begin);
  return pattern.lines ? line_end(pattern, scan) : gpt2_end(scan);
}

}  // namespace tapestry
