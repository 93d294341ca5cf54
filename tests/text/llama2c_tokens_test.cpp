// llama2.c's tokenizer.bin, number by number: what is at its limits, and beyond; and its merges.
#include "text/llama2c_tokens.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

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

std::string llama2c_file(const std::vector<std::pair<std::string, float>>& tokens) {
  std::string bytes = bytes_of_number(std::int32_t{27});
  for (const auto& [text, score] : tokens) {
    bytes += token(static_cast<std::int32_t>(text.size()), text, score);
  }
  return bytes;
}

std::vector<std::pair<std::string, float>> small_tokens() {
  std::vector<std::pair<std::string, float>> tokens = {
      {"<unk>", 0.f}, {"\n<s>\n", 0.f}, {"\n</s>\n", 0.f}};
  constexpr const char* digits = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back({std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0.f});
  }
  for (const auto& more : std::vector<std::pair<std::string, float>>{
           {" ", -9.f}, {"a", -9.f}, {"b", -9.f}, {"ab", -2.f}, {" a", -1.f}, {"ba", -2.f}}) {
    tokens.push_back(more);
  }
  return tokens;
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

TEST_CASE("llama2.c's tokenizer.bin merges by score, the leftmost of equal ones", "[text]") {
  const Tokenizer tokenizer = tokenizer_of({{"tokenizer.bin", llama2c_file(small_tokens())}});
  CHECK(tokens_of(tokenizer, "abab", true) == Strings{"\n<s>\n", " a", "ba", "b"});
  CHECK(tokens_of(tokenizer, "b\n") == Strings{" ", "b", "<0x0A>"});
  CHECK(tokens_of(tokenizer, "") == Strings{});
  for (const std::string text : {"b é", "  b ", "é  ", "\xFF"}) {
    CHECK(tokenizer.decode(tokenizer.encode(text).values) == text);
  }
  for (const std::int32_t id : {0, 1, 2, 3})
    CHECK(tokenizer.is_special(id) == (id == 1 || id == 2));
  CHECK(tokenizer.bos() == 1);
  CHECK(tokenizer.eos() == 2);
}

TEST_CASE("in llama2.c's tokenizer.bin no merge makes one of the first 259 tokens", "[text]") {
  auto tokens = small_tokens();
  tokens.resize(259);
  tokens[0].first = "x";
  tokens[258].first = "aa";  // the byte 0xFF
  for (const char* text : {"xa", "ax", "a", " "}) tokens.push_back({text, -1.f});
  const Tokenizer tokenizer = tokenizer_of({{"tokenizer.bin", llama2c_file(tokens)}});
  CHECK(tokenizer.encode("xa ax aa", false).values == Ids{262, 259, 262, 260, 262, 261, 261});
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(tokenizer.decode(tokenizer.encode(one).values) == (byte == 0xFF ? "aa" : one));
    if (tokenizer.contains(one)) continue;
    CHECK(tokenizer.encode(one, false).values == Ids{262, byte + 3});
  }
}

TEST_CASE("a merge of llama2.c's tokenizer.bin is named by the rank of its score", "[text]") {
  const Tokenizer tokenizer = tokenizer_of({{"tokenizer.bin", llama2c_file(small_tokens())}});
  const auto steps = tokenizer.explain("ab").pieces.at(0);  // scores 0, -1, -2, -9
  REQUIRE(steps.size() == 3);
  CHECK(steps[2].name == "merge 1");
  CHECK(steps[2].pieces == Strings{" a", "b"});
}

TEST_CASE("a tokenizer.bin has at least its special tokens and all bytes", "[text]") {
  std::vector<std::pair<std::string, float>> tokens = small_tokens();
  tokens.resize(259);
  CHECK(tokenizer_of({{"tokenizer.bin", llama2c_file(tokens)}}).size() == 259);
  tokens.pop_back();
  CHECK(complaint([&] { tokenizer_of({{"tokenizer.bin", llama2c_file(tokens)}}); }, {"258"}) == "");
}
