#include "text/split_patterns.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

constexpr const char* llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* qwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                              R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Strings pieces(const SplitPattern& pattern, const std::string& text) {
  Strings found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = piece_end(pattern, text, at);
    found.push_back(text.substr(at, end - at));
    REQUIRE(end > at);
    at = end;
  }
  return found;
}

Strings gpt2(const std::string& text) { return pieces(gpt2_pattern, text); }

}  // namespace

TEST_CASE("GPT-2's pattern cuts words, numbers, signs and blanks", "[text]") {
  CHECK(gpt2("Hello world") == Strings{"Hello", " world"});
  CHECK(gpt2("a  b") == Strings{"a", " ", " b"});
  CHECK(gpt2("a \n b ") == Strings{"a", " \n", " b", " "});
  CHECK(gpt2("   ") == Strings{"   "});
  CHECK(gpt2("\n\nx") == Strings{"\n", "\n", "x"});
  CHECK(gpt2(" 12345x!") == Strings{" 12345", "x", "!"});
  CHECK(gpt2("x ...!? y") == Strings{"x", " ...!?", " y"});
  CHECK(gpt2("naïve e\u0301") == Strings{"naïve", " e", "\u0301"});
  CHECK(gpt2("a\u00A0\u00A0b") == Strings{"a", "\u00A0", "\u00A0", "b"});
  CHECK(gpt2("日本 ½Ⅷ") == Strings{"日本", " ½Ⅷ"});
}

TEST_CASE("GPT-2's pattern knows English endings, in small letters only", "[text]") {
  CHECK(gpt2("don't we'll I'M") == Strings{"don", "'t", " we", "'ll", " I", "'", "M"});
  CHECK(gpt2("they've you're he'd I'm it's") ==
        Strings{"they", "'ve", " you", "'re", " he", "'d", " I", "'m", " it", "'s"});
  CHECK(gpt2("''s '") == Strings{"''", "s", " '"});
  CHECK(gpt2("'l 'r") == Strings{"'", "l", " '", "r"});
}

TEST_CASE("bytes that are not UTF-8 are signs, each for itself", "[text]") {
  CHECK(gpt2("a\xFF\x80z") == Strings{"a", "\xFF\x80", "z"});
  CHECK(gpt2(" \xC3") == Strings{" \xC3"});
  CHECK(pieces(*known_pattern(llama3),
               "\xFF"
               "ab\xE2\x82") == Strings{"\xFF"
                                        "ab",
                                        "\xE2\x82"});
}

TEST_CASE("the patterns of Llama 3 and Qwen 2: digits, line ends, cases", "[text]") {
  const SplitPattern three = known_pattern(llama3).value(), one = known_pattern(qwen2).value();
  CHECK(pieces(three, "12345 6") == Strings{"123", "45", " ", "6"});
  CHECK(pieces(one, "12") == Strings{"1", "2"});
  CHECK(pieces(three, "I'M it'ſ (word)") == Strings{"I", "'M", " it", "'ſ", " (", "word", ")"});
  CHECK(pieces(three, "a  b\t\tc") == Strings{"a", " ", " b", "\t", "\tc"});
  CHECK(pieces(three, "a.\n\n b") == Strings{"a", ".\n\n", " b"});
  CHECK(pieces(three, "a \n \n  b") == Strings{"a", " \n \n", " ", " b"});
  CHECK(pieces(three, "\nb") == Strings{"\n", "b"});
  CHECK(pieces(three, "\n  b") == Strings{"\n", " ", " b"});
  CHECK(pieces(three, "a   ") == Strings{"a", "   "});
}

TEST_CASE("an English ending in any case ends where more letters follow", "[text]") {
  for (const std::string end : {"'S", "'T", "'M", "'D", "'RE", "'Re", "'rE", "'VE", "'LL", "'ſ"}) {
    for (const char* pattern : {llama3, qwen2}) {
      CHECK(pieces(*known_pattern(pattern), "a" + end + "b") == Strings{"a", end, "b"});
    }
    CHECK(gpt2("a" + end + "b") == Strings{"a", "'", end.substr(1) + "b"});
  }
  CHECK(piece_end(gpt2_pattern, std::string_view("'ll").substr(0, 2), 0) == 1);  // a text ends
}

TEST_CASE("a pattern is known by its exact text", "[text]") {
  CHECK(
      known_pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)")
          .has_value());
  CHECK(!known_pattern(R"(\p{N}{1,3})").has_value());
  CHECK(!known_pattern("").has_value());
}

TEST_CASE("a megabyte of one character is cut in one pass", "[text]") {
  for (const char* pattern : {llama3, qwen2}) {
    for (const char letter : {'a', ' ', '\n', '.', '\''}) {
      const std::string text(1'000'000, letter);
      CHECK(pieces(*known_pattern(pattern), text).size() == 1);
      CHECK(gpt2(text).size() == 1);
    }
  }
}
