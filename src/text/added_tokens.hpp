// Added tokens: they are cut out of a text before anything else happens to it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tapestry {

struct AddedToken {
  std::int32_t id = 0;
  std::string content = {};
  bool single_word = false;             // not beside a letter or digit
  bool lstrip = false, rstrip = false;  // takes the white space before, behind it
  bool normalized = false;              // looked for after normalising, in its normalised form
  bool special = false;                 // left out when ids become text
};

// A part of a text: the added token with this id, or, without one, text.
struct TextPart {
  std::string_view text;
  std::int32_t id = -1;
};

// Finds tokens in a text, of those that begin at one place the longest. Takes time in proportion to
// the text, however long the tokens are.
class TokenFinder {
 public:
  // Throws Error if another token has this spelling.
  void add(const AddedToken& token, const std::string& spelling);
  void finish();  // after the last add
  bool empty() const { return tokens_.empty(); }

  std::vector<TextPart> cut(std::string_view text) const;

 private:
  struct Token {
    AddedToken token;
    std::size_t length;  // of its spelling
  };
  // Nodes are ends of spellings, read backwards (Aho and Corasick's automaton): the longest one
  // that the text goes on with. 0: the empty one.
  struct Node {
    std::uint32_t parent = 0, length = 0;
    std::uint32_t shorter = 0;  // the longest other node that it ends with, read backwards
    std::int32_t token = -1;    // the longest that the text goes on with
    char byte = 0;              // the last one added
  };
  struct Match {
    std::size_t begin;
    std::int32_t token;
  };
  std::uint32_t next(std::uint32_t node, char byte) const;
  std::vector<Match> matches(std::string_view text) const;

  std::vector<Token> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<bool, 256> ends_{};                               // some token ends with the byte
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // of (node, byte)
};

}  // namespace tapestry
