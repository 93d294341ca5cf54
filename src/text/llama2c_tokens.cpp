#include "text/llama2c_tokens.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they stand");

template <class Number>
Number take(std::string_view& bytes, const char* what) {
  Number number;
  if (bytes.size() < sizeof number) {
    throw Error(std::string("it ends before ") + what + ": cut off, or not llama2.c's.");
  }
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

}  // namespace

std::vector<ScoredToken> llama2c_tokens(std::string_view bytes) {
  std::vector<ScoredToken> tokens;
  const auto longest = take<std::int32_t>(bytes, "the longest token's length");
  while (!bytes.empty()) {
    const auto score = take<float>(bytes, "a token's score");
    const auto length = take<std::int32_t>(bytes, "a token's length");
    const std::string name = "token " + std::to_string(tokens.size());
    if (length < 0 || length > longest || static_cast<std::size_t>(length) > bytes.size()) {
      throw Error(name + " has a length of " + std::to_string(length) + " bytes, but " +
                  std::to_string(bytes.size()) + " follow and " + std::to_string(longest) +
                  " are its limit: cut off, or not llama2.c's.");
    }
    if (!std::isfinite(score)) throw Error(name + " has a score that is not a number.");
    tokens.push_back({std::string(bytes.substr(0, static_cast<std::size_t>(length))), score});
    bytes.remove_prefix(tokens.back().text.size());
  }
  return tokens;
}

}  // namespace tapestry
