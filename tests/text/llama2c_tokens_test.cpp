// llama2.c's tokenizer.bin, number by number: what is at its limits, and beyond.
#include "text/llama2c_tokens.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

template <class Number>
std::string bytes_of_number(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string token(std::int32_t length, const std::string& text, float score = -1) {
  return bytes_of_number(score) + bytes_of_number(length) + text;
}

const std::string longest_is_4 = bytes_of_number(std::int32_t{4});

std::string refusal(const std::string& bytes, std::initializer_list<const char*> words) {
  return complaint([&] { llama2c_tokens(bytes); }, words);
}

}  // namespace

TEST_CASE("tokens of llama2.c may be empty, or as long as the longest", "[text]") {
  const std::vector<ScoredToken> tokens =
      llama2c_tokens(longest_is_4 + token(0, "") + token(4, "abcd", -2.5f) + token(0, ""));
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[0].text.empty());
  CHECK(tokens[1].text == "abcd");
  CHECK(tokens[1].score == -2.5f);
  CHECK(tokens[2].text.empty());
  CHECK(llama2c_tokens(longest_is_4).empty());
}

TEST_CASE("lengths and scores of llama2.c that cannot be are refused", "[text]") {
  CHECK(refusal(longest_is_4 + token(5, "abcde"),
                {"token 0 has a length of 5 bytes", "4 are its limit"}) == "");
  CHECK(refusal(longest_is_4 + token(1, "a") + token(-1, ""),
                {"token 1 has a length of -1 bytes"}) == "");
  CHECK(refusal(longest_is_4 + token(4, "abc"),
                {"token 0 has a length of 4 bytes, but 3 follow", "cut off"}) == "");
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(refusal(longest_is_4 + token(1, "a", infinite), {"token 0", "not a number"}) == "");
  CHECK(refusal("abc", {"ends before the longest token's length"}) == "");
  CHECK(refusal(longest_is_4 + "ab", {"ends before a token's score"}) == "");
  CHECK(refusal(longest_is_4 + token(1, "").substr(0, 6), {"ends before a token's length"}) == "");
}
