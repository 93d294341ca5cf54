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
    const std::int32_t symbol = character.valid ? model_.symbol_of(character.point) : -1;
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

// Appends the longest token that the text begins with; its bytes, 0: none.
std::size_t append_longest(const TokenMap& tokens, std::string_view text, std::size_t longest,
                           TokenIds& ids) {
  for (std::size_t end = std::min(text.size(), longest); end > 0; --end) {
    const auto found = tokens.find(text.substr(0, end));
    if (found == tokens.end()) continue;
    ids.push_back(found->second);
    return end;
  }
  return 0;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).bytes);
  return count;
}

}  // namespace

std::int32_t BytePairModel::symbol_of(char32_t point) const {
  if (point < 128) return ascii_symbols[point];
  const auto found = symbols.find(point);
  return found == symbols.end() ? -1 : found->second;
}

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
    const bool first = rest.size() == piece.size();
    const std::size_t bytes =
        append_longest(first ? beginnings : continuations, rest, longest, ids);
    if (bytes == 0) {
      ids.resize(begin);
      return ids.push_back(unknown);
    }
    rest.remove_prefix(bytes);
  }
}

}  // namespace tapestry
