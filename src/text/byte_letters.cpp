#include "text/byte_letters.hpp"

#include "tapestry/unicode.hpp"
#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
}

struct Table {
  std::array<std::string, 256> letter;         // of a byte
  std::array<int, 0x144> byte;                 // of a letter; -1: none
  std::array<unsigned char, 256> by_letter{};  // bytes
};

Table make_table() {
  Table table;
  table.byte.fill(-1);
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t point = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
    table.letter[static_cast<std::size_t>(byte)] = encode_utf8(point);
    table.byte[point] = byte;
  }
  std::size_t place = 0;
  for (const int byte : table.byte) {
    if (byte >= 0) table.by_letter[place++] = static_cast<unsigned char>(byte);
  }
  return table;
}

const Table& table() {
  static const Table made = make_table();
  return made;
}

}  // namespace

const std::array<unsigned char, 256>& bytes_by_letter() { return table().by_letter; }

std::string letters_of(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) letters += table().letter[static_cast<unsigned char>(byte)];
  return letters;
}

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  std::string bytes;
  const auto& byte = table().byte;
  while (!letters.empty()) {
    const Character next = first_character(letters);
    if (!next.valid || next.point >= byte.size() || byte[next.point] < 0) return std::nullopt;
    bytes += static_cast<char>(byte[next.point]);
    letters.remove_prefix(next.bytes);
  }
  return bytes;
}

}  // namespace tapestry
