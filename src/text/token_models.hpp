// The models that make tokens of one piece of a text: byte-pair encoding and WordPiece.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "text/pair_merges.hpp"

namespace tapestry {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using TokenMap = std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>>;

// What is kept while one text is encoded.
struct EncodingMemory {
  MergeCache cache;
  TokenIds symbols;
};

struct BytePairModel {
  PairMerges merges;
  bool by_bytes = false;  // a symbol is a byte, and else a character
  std::array<std::int32_t, 256>
      byte_symbols;  // by bytes: of each byte; else its fallback; -1: none
  std::array<std::int32_t, 128> ascii_symbols;              // by characters
  std::unordered_map<char32_t, std::int32_t> symbols = {};  // the same beyond ASCII
  std::int32_t unknown = -1;
  bool fuse_unknown = false;  // neighbours that are unknown are one token
  TokenMap whole = {};        // a piece that is one of these is not merged (ignore_merges)

  BytePairModel() {
    byte_symbols.fill(-1);
    ascii_symbols.fill(-1);
  }

  void encode(std::string_view piece, TokenIds& ids, EncodingMemory& memory) const;
  void append_symbols(std::string_view piece, TokenIds& symbols) const;
  std::int32_t symbol_of(char32_t point) const;  // by characters; negative: none
};

struct WordPieceModel {
  std::int32_t unknown;                          // the token of a piece that others do not cover
  TokenMap beginnings = {}, continuations = {};  // the latter without their prefix
  std::size_t longest = 0;                       // token, in bytes
  std::size_t most_characters = 100;             // of a piece; above it is unknown

  void encode(std::string_view piece, TokenIds& ids, EncodingMemory& memory) const;
};

using TokenModel = std::variant<BytePairModel, WordPieceModel>;

}  // namespace tapestry
