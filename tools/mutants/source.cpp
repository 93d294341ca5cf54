#include "source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace mutants {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Splits a file into tokens.
class Reader {
 public:
  explicit Reader(Source& source) : source_(source), text_(source.text) {}

  void read() {
    while (at_ < text_.size()) {
      if (skipped()) continue;
      const std::size_t begin = at_;
      const int line = line_;
      const Kind kind = take();
      line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                           text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
      if (after_directive_) source_.after_a_line.insert(source_.tokens.size());
      source_.tokens.push_back({kind, text_.substr(begin, at_ - begin), begin, at_, line, space_});
      space_ = at_line_start_ = after_directive_ = false;
    }
  }

 private:
  bool starts(std::string_view word) const { return text_.compare(at_, word.size(), word) == 0; }

  // Blanks, comments and preprocessor lines
  bool skipped() {
    if (text_[at_] == '\n') {
      ++line_;
      at_line_start_ = true;
    } else if (starts("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
    } else if (starts("/*")) {
      const std::size_t end = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      for (; at_ + 1 < end; ++at_) line_ += text_[at_] == '\n';
    } else if (at_line_start_ && text_[at_] == '#') {
      after_directive_ = true;
      for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
        if (!starts("\\\n")) continue;
        ++at_;
        ++line_;
      }
      return true;
    } else if (!std::isspace(static_cast<unsigned char>(text_[at_]))) {
      return false;
    }
    ++at_;
    return space_ = true;
  }

  Kind take() {
    const char c = text_[at_];
    const bool raw = starts("R\"");
    if (raw) {
      const std::size_t open = text_.find('(', at_);
      const std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
      at_ = text_.find(close, open) + close.size();
      return Kind::text;
    }
    if (c == '"' || c == '\'') {
      for (++at_; text_[at_] != c; ++at_) at_ += text_[at_] == '\\';
      ++at_;
      return Kind::text;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])))) {
      take_number();
      return Kind::number;
    }
    if (is_letter(c)) {
      while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
      return Kind::word;
    }
    take_sign();
    return Kind::sign;
  }

  void take_number() {
    const bool hexadecimal = starts("0x") || starts("0X");
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_], before = text_[at_ - 1];
      const bool exponent =
          hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      if (!is_letter(c) && c != '.' && c != '\'' && !(exponent && (c == '+' || c == '-'))) return;
    }
  }

  void take_sign() {
    static constexpr std::array<std::string_view, 25> long_signs = {
        "<=>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==",
        "!=",  "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ">>"};
    for (const std::string_view sign : long_signs) {
      if (!starts(sign) || (sign == ">>" && !space_)) continue;
      at_ += sign.size();
      return;
    }
    ++at_;
  }

  Source& source_;
  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool space_ = false, at_line_start_ = true, after_directive_ = false;
};

// The > that closes the < of a template's arguments; `nowhere` if it is a comparison.
std::size_t closing_angle(const Source& s, std::size_t i) {
  if (i == 0 || !s.is_word(i - 1) || s.is(i - 1, "operator")) return nowhere;
  if (s.tokens[i].space_before && !s.is(i - 1, "template")) return nowhere;
  int depth = 1;
  for (std::size_t j = i + 1; j < s.tokens.size(); ++j) {
    if (s.is(j, "(") || s.is(j, "[") || s.is(j, "{")) j = s.partner[j];
    if (s.is(j, "<") && (!s.tokens[j].space_before || s.is(j - 1, "template"))) ++depth;
    if (s.is(j, ">") && --depth == 0) return j;
    if (j == nowhere || s.is(j, ";") || (s.closes(j) && s.partner[j] < i)) return nowhere;
  }
  return nowhere;
}

void find_partners(Source& s) {
  s.partner.assign(s.tokens.size(), nowhere);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.is(i, "(") || s.is(i, "[") || s.is(i, "{")) open.push_back(i);
    if ((s.is(i, ")") || s.is(i, "]") || s.is(i, "}")) && !open.empty()) {
      s.partner[i] = open.back();
      s.partner[open.back()] = i;
      open.pop_back();
    }
  }
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    const std::size_t close = s.is(i, "<") ? closing_angle(s, i) : nowhere;
    if (close == nowhere) continue;
    s.partner[i] = close;
    s.partner[close] = i;
  }
  open = {nowhere};
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.closes(i)) open.pop_back();
    s.outer.push_back(open.back());
    if (s.opens(i)) open.push_back(i);
  }
}

// The kind of a { } follows from the tokens before it, back to the end of the last statement.
Braces kind_of_braces(const Source& s, std::size_t brace) {
  if (brace == 0) return Braces::block;
  const std::size_t before = brace - 1;
  const Braces around = s.outer[brace] == nowhere ? Braces::space : s.braces[s.outer[brace]];
  if (s.is(before, ";") || s.is(before, "}") || s.is(before, "{")) {
    return around == Braces::values ? Braces::values : Braces::block;
  }
  for (const char* word : {")", "else", "do", "try", "const", "noexcept", "override", "mutable"}) {
    if (s.is(before, word)) return Braces::block;
  }
  if (s.is(before, "]") && !s.ends_operand(s.partner[before] - 1)) return Braces::block;
  for (std::size_t i = before; i != nowhere; --i) {
    if (s.is(i, "namespace") || s.is(i, "extern")) return Braces::space;
    if (s.is(i, "enum")) return Braces::enumerators;
    if (s.is(i, "class") || s.is(i, "struct") || s.is(i, "union")) {
      return s.is(i - 1, "enum") ? Braces::enumerators : Braces::type;
    }
    if (s.is(i, "case") || s.is(i, "default")) return Braces::block;
    if (s.is(i, "->") && (s.is(i - 1, ")") || s.is(i - 1, "mutable"))) return Braces::block;
    if (s.is(i, "=") || s.is(i, "return") || s.is(i, ";") || s.is(i, "{") || s.is(i, "}")) break;
    if (s.opens(i)) break;
    if (s.closes(i) && s.partner[i] != nowhere) i = s.partner[i];
  }
  return Braces::values;
}

}  // namespace

bool Source::is_keyword(std::size_t i) const {
  static const std::set<std::string> words = {
      "return",       "throw",     "case",    "else",      "do",       "if",       "for",
      "while",        "switch",    "goto",    "new",       "delete",   "using",    "typedef",
      "namespace",    "class",     "struct",  "enum",      "union",    "template", "static",
      "const",        "constexpr", "auto",    "int",       "float",    "double",   "bool",
      "char",         "unsigned",  "long",    "short",     "signed",   "void",     "try",
      "catch",        "public",    "private", "protected", "friend",   "operator", "typename",
      "default",      "inline",    "extern",  "explicit",  "virtual",  "mutable",  "static_assert",
      "thread_local", "requires",  "concept", "break",     "continue", "co_return"};
  return is_word(i) && words.count(tokens[i].text) > 0;
}

bool Source::opens(std::size_t i) const { return partner[i] != nowhere && partner[i] > i; }

bool Source::closes(std::size_t i) const { return partner[i] != nowhere && partner[i] < i; }

bool Source::ends_operand(std::size_t i) const {
  if (i >= tokens.size()) return false;
  if (tokens[i].kind == Kind::sign) return closes(i);
  return !is_keyword(i);
}

bool Source::in_block(std::size_t i) const {
  return outer[i] != nowhere && is(outer[i], "{") && braces[outer[i]] == Braces::block;
}

std::string Source::joined(std::size_t from, std::size_t to) const {
  std::string all;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from && tokens[i].space_before) all += ' ';
    all += tokens[i].text;
  }
  return all;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("mutants: cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Source read_source(const std::string& path) {
  Source source;
  source.path = path;
  source.text = read_file(path);
  Reader(source).read();
  find_partners(source);
  source.braces.assign(source.tokens.size(), Braces::none);
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    if (source.is(i, "{")) source.braces[i] = kind_of_braces(source, i);
  }
  return source;
}

}  // namespace mutants
