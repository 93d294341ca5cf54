// The tokenizer of llama2.c's file.
#include <algorithm>
#include <functional>

#include "tapestry/error.hpp"
#include "text/byte_letters.hpp"
#include "text/llama2c_tokens.hpp"
#include "text/tokenizer_parts.hpp"
#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

struct Scored {
  std::int32_t id;
  float score;
};

std::vector<Scored> add_tokens(std::string_view bytes, TokenTable& table) {
  std::vector<Scored> scores;
  for (const ScoredToken& token : llama2c_tokens(bytes)) {
    scores.push_back({static_cast<std::int32_t>(scores.size()), token.score});
    table.add(token.text, scores.back().id);
  }
  if (scores.size() < llama2c_first_merged) {
    throw Error("it has " + std::to_string(scores.size()) +
                " tokens: <unk>, <s>, </s> and 256 bytes must be there.");
  }
  return scores;
}

// Equal scores are equal ranks: of such pairs the leftmost is merged first.
std::vector<PairMerges::Rule> rules_of(const TokenTable& table, std::vector<Scored> tokens) {
  std::ranges::stable_sort(tokens, std::greater(), &Scored::score);
  std::vector<PairMerges::Rule> rules;
  std::int32_t rank = 0;
  float before = tokens.front().score;
  for (const Scored& token : tokens) {
    if (token.score < before) ++rank;
    before = token.score;
    const std::string_view text = table.token(token.id);
    if (token.id < llama2c_first_merged) continue;
    for (std::size_t at = 0; at < text.size();) {
      at += first_character(text.substr(at)).bytes;
      const std::int32_t left = table.find(text.substr(0, at)), right = table.find(text.substr(at));
      if (left >= 0 && right >= 0) rules.push_back({left, right, rank, token.id});
    }
  }
  return rules;
}

}  // namespace

SharedParts tokenizer_from_llama2c(std::string_view bytes) {
  const auto parts = std::make_shared<TokenizerParts>();
  const std::vector<Scored> tokens = add_tokens(bytes, parts->table);
  NormalizerStep prepend{NormalizerStep::Kind::prepend, "Prepend"};
  prepend.content = " ";
  parts->normalizer = {prepend};
  BytePairModel model;
  for (const unsigned char byte : bytes_by_letter()) model.byte_symbols[byte] = byte + 3;
  set_rules(*parts, std::move(model), rules_of(parts->table, tokens));
  using Kind = DecoderStep::Kind;
  parts->decoder = {{Kind::byte_fallback, "ByteFallback"},
                    {Kind::fuse, "Fuse"},
                    {.kind = Kind::strip, .name = "Strip", .content = " ", .left = 1}};
  parts->finish();
  parts->is_special[1] = parts->is_special[2] = true;
  parts->front = {1};
  parts->bos = 1;
  parts->eos = 2;
  return parts;
}

}  // namespace tapestry
