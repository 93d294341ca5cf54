// Byte-level vocabularies write each byte as one printable letter: those of Latin-1 that print
// stand for themselves, the others are U+0100 and following ("Ġ" is the space).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tapestry {

// The 256 bytes in the order of their letters' code points, in which GPT-2 numbers them.
const std::array<unsigned char, 256>& bytes_by_letter();

std::string letters_of(std::string_view bytes);

// Nothing if a character is not such a letter.
std::optional<std::string> bytes_of_letters(std::string_view letters);

}  // namespace tapestry
