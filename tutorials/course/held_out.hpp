// Which sentences are for testing only.
#pragma once

#include <cstdint>

#include "tapestry/random.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// One in ten, by a hash of the words: the same for every generator and seed.
inline bool is_held_out(const Words& words) {
  std::uint64_t number = 0;
  for (const std::string& word : words) {
    for (const char letter : word) {
      number = number * 1'000'003 + static_cast<unsigned char>(letter);
    }
  }
  return Random(number).randint(10) == 0;  // the generator's first number is a good hash
}

}  // namespace tapestry
