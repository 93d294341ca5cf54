// Which sentences are for training, and which for testing only.
#pragma once

#include <cstdint>
#include <string_view>

#include "tapestry/random.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// A prompt or a sentence belongs to one part for good. None that is held out is ever trained on.
enum class Part { train, held_out };

// Tells texts apart: the bytes as digits to the base 1 000 003, modulo 2^64, behind those before.
inline std::uint64_t number_of(std::string_view bytes, std::uint64_t before = 0) {
  for (const char c : bytes) before = before * 1'000'003 + static_cast<unsigned char>(c);
  return before;
}

// One in ten, by a hash of the words: the same for every generator, seed and task.
inline bool is_held_out(const Words& words) {
  std::uint64_t number = 0;
  for (const std::string& word : words) number = number_of(word, number);
  return Random(number).randint(10) == 0;  // the generator's first number is a good hash
}

}  // namespace tapestry
