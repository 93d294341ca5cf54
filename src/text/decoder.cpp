#include "text/decoder.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "text/byte_letters.hpp"
#include "text/normalizer.hpp"

namespace tapestry {
namespace {

using Strings = std::vector<std::string>;
using Kind = DecoderStep::Kind;

// "<0x0A>" -> a line feed; other tokens stay.
std::string byte_or(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return token;
  unsigned byte = 0;
  const char* end = token.data() + 5;
  const auto read = std::from_chars(token.data() + 3, end, byte, 16);
  return read.ec == std::errc() && read.ptr == end ? std::string(1, static_cast<char>(byte))
                                                   : token;
}

std::string stripped(const DecoderStep& step, const std::string& token, bool first, bool last) {
  const std::string& character = step.content;
  std::string_view rest = token;
  for (std::size_t i = 0; first && i < step.left && rest.starts_with(character); ++i) {
    rest.remove_prefix(character.size());
  }
  for (std::size_t i = 0; last && i < step.right && rest.ends_with(character); ++i) {
    rest.remove_suffix(character.size());
  }
  return std::string(rest);
}

std::string without_stray_blanks(std::string text) {
  constexpr std::pair<const char*, const char*> pairs[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [with, without] : pairs) text = replaced(text, with, without);
  return text;
}

std::string word_piece(const DecoderStep& step, std::string token, bool first) {
  if (!first) {
    token = token.starts_with(step.content) ? token.substr(step.content.size()) : " " + token;
  }
  return step.clean ? without_stray_blanks(std::move(token)) : token;
}

std::string metaspace(const DecoderStep& step, const std::string& token, bool first) {
  return replaced(token, step.content, first && step.prepended ? "" : " ");
}

std::string fused(const Strings& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

// One token of a step; `first`: the text begins with it.
std::string changed(const DecoderStep& step, const std::string& token, bool first, bool last,
                    bool is_fused) {
  switch (step.kind) {
    case Kind::byte_level:
      return bytes_of_letters(token).value_or(token);
    case Kind::metaspace:
      return metaspace(step, token, first);
    case Kind::byte_fallback:
      return byte_or(token);
    case Kind::strip:
      return stripped(step, token, first || !is_fused, last || !is_fused);
    case Kind::replace:
      return replaced(token, step.pattern, step.content);
    case Kind::word_piece:
      return word_piece(step, token, first);
    case Kind::blanks:
      return first ? token : " " + token;
    case Kind::fuse:
      return token;
  }
  return token;
}

}  // namespace

std::string decoded(const std::vector<DecoderStep>& steps, Strings tokens, bool first, bool last) {
  bool is_fused = false;
  for (const DecoderStep& step : steps) {
    if (step.kind == Kind::fuse) {
      tokens = {fused(tokens)};
      is_fused = true;
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] =
          changed(step, tokens[i], first && i == 0, last && i + 1 == tokens.size(), is_fused);
    }
  }
  return fused(tokens);
}

}  // namespace tapestry
