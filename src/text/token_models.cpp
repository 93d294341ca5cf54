#include "text/token_models.hpp"

#include <algorithm>

#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

// The symbols of a text by characters. An unknown one is held back: others may be fused with it.
class Symbols {
 public:
  Symbols(const BytePairModel& model, TokenIds& symbols) : model_(model), symbols_(symbols) {}

  void add(const Character& character, std::string_view bytes) {
    const std::int32_t symbol = symbol_of(character);
    if (symbol >= 0) {
      finish();
      symbols_.push_back(symbol);
    } else if (!add_bytes(bytes) && model_.unknown >= 0) {
      if (held_ && !model_.fuse_unknown) finish();
      held_ = true;
    }
  }

  void finish() {
    if (held_) symbols_.push_back(model_.unknown);
    held_ = false;
  }

 private:
  std::int32_t symbol_of(const Character& character) const {
    if (!character.valid) return -1;
    if (character.point < 128) return model_.ascii_symbols[character.point];
    const auto found = model_.symbols.find(character.point);
    return found == model_.symbols.end() ? -1 : found->second;
  }

  // Only if each byte has a symbol.
  bool add_bytes(std::string_view bytes) {
    const auto of = [&](char b) { return model_.byte_symbols[static_cast<unsigned char>(b)]; };
    if (std::any_of(bytes.begin(), bytes.end(), [&](char b) { return of(b) < 0; })) return false;
    for (const char byte : bytes) symbols_.push_back(of(byte));
    return true;
  }

  const BytePairModel& model_;
  TokenIds& symbols_;
  bool held_ = false;
};

// The bytes of the longest token that the text begins with, and its id; 0: none.
std::size_t longest_match(const TokenMap& tokens, std::string_view text, std::size_t longest,
                          std::int32_t& id) {
  std::size_t end = std::min(text.size(), longest);
  while (end > 0) {
    const auto found = tokens.find(text.substr(0, end));
    if (found != tokens.end()) {
      id = found->second;
      return end;
    }
    --end;
  }
  return 0;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).bytes);
  return count;
}

}  // namespace

void BytePairModel::append_symbols(std::string_view piece, TokenIds& to) const {
  if (by_bytes) {
    bool before = false;  // was the byte before unknown?
    for (const char byte : piece) {
      const std::int32_t symbol = byte_symbols[static_cast<unsigned char>(byte)];
      if (symbol >= 0) {
        to.push_back(symbol);
      } else if (unknown >= 0 && !(before && fuse_unknown)) {
        to.push_back(unknown);
      }
      before = symbol < 0;
    }
    return;
  }
  Symbols result(*this, to);
  while (!piece.empty()) {
    const Character next = first_character(piece);
    result.add(next, piece.substr(0, next.bytes));
    piece.remove_prefix(next.bytes);
  }
  result.finish();
}

void BytePairModel::encode(std::string_view piece, TokenIds& ids, EncodingMemory& memory) const {
  if (!whole.empty()) {
    const auto found = whole.find(piece);
    if (found != whole.end()) return ids.push_back(found->second);
  }
  memory.symbols.clear();
  append_symbols(piece, memory.symbols);
  merges.merge(memory.symbols, ids, memory.cache);
}

// From the left always the longest token; a piece that cannot be covered is unknown as a whole.
void WordPieceModel::encode(std::string_view piece, TokenIds& ids, EncodingMemory&) const {
  const std::size_t begin = ids.size();
  std::string_view rest = piece;
  if (count_characters(piece) > most_characters) return ids.push_back(unknown);
  while (!rest.empty()) {
    std::int32_t id = -1;
    const bool first = rest.size() == piece.size();
    const std::size_t bytes = longest_match(first ? beginnings : continuations, rest, longest, id);
    if (bytes == 0) {
      ids.resize(begin);
      return ids.push_back(unknown);
    }
    ids.push_back(id);
    rest.remove_prefix(bytes);
  }
}

}  // namespace tapestry
