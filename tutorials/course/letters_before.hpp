// Letters drawn at random, as numbers, and the task to say the letter so many places before, for
// steps 55, 57 and 61.
#pragma once

#include <cstdint>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// (rows, length): numbers from 0 to `letters` - 1.
inline Indices random_letters(Index letters, Index rows, Index length, Random& random) {
  Indices drawn;
  drawn.shape = {rows, length};
  for (Index at = 0; at < rows * length; ++at) {
    drawn.values.push_back(static_cast<std::int32_t>(random.randint(letters)));
  }
  return drawn;
}

// Of each place of `read` (rows, length) what stands `distance` places before it in its row, or -1
// where that is before place `first`.
inline Indices letters_before(const Indices& read, Index distance, Index first = 0) {
  Indices answers = read;  // (rows, length)
  for (Index at = 0; at < std::ssize(read.values); ++at) {
    const bool has_one = at % read.shape[1] >= first + distance;
    answers.values[static_cast<std::size_t>(at)] =
        has_one ? read.values[static_cast<std::size_t>(at - distance)] : -1;
  }
  return answers;
}

}  // namespace tapestry
