// A source file as the mutants need it: its tokens, matching brackets, and the kind of each brace.
// It relies on the layout that clang-format gives: a binary operator stands between blanks, the `<`
// of a template's arguments does not.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace mutants {

enum class Kind { word, number, text, sign };

struct Token {
  Kind kind;
  std::string text;
  std::size_t begin, end;  // in the file
  int line;
  bool space_before;
};

// What is between { and }
enum class Braces { none, block, values, type, enumerators, space };

constexpr std::size_t nowhere = std::size_t(-1);

struct Source {
  std::string path, text;
  std::vector<Token> tokens;           // without comments and preprocessor lines
  std::set<std::size_t> after_a_line;  // tokens that follow a preprocessor line
  std::vector<std::size_t> partner;    // of ( [ { and a template's <, and of what closes them
  std::vector<std::size_t> outer;      // the innermost open bracket around a token
  std::vector<Braces> braces;          // of each {
  bool conditional = false;            // whether the compiler skips lines that are not among these:
  std::set<int> compiled;              // lines

  bool is(std::size_t i, const char* word) const {
    return i < tokens.size() && tokens[i].text == word;
  }
  bool is_word(std::size_t i) const { return i < tokens.size() && tokens[i].kind == Kind::word; }
  // a keyword that no operand begins or ends with
  bool is_keyword(std::size_t i) const;
  bool opens(std::size_t i) const;
  bool closes(std::size_t i) const;
  // The last token of an operand: a name, a number, a string, a closing bracket.
  bool ends_operand(std::size_t i) const;
  // In a function's body, directly: not within the parentheses of a call or a list of values.
  bool in_block(std::size_t i) const;
  // The tokens [from, to) in one line, runs of blanks as one.
  std::string joined(std::size_t from, std::size_t to) const;
};

std::string read_file(const std::string& path);
Source read_source(const std::string& path);

}  // namespace mutants
