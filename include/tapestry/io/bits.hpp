// Whether two files of tensors (safetensors, and so checkpoints and snapshots) hold the same bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tapestry/real.hpp"

namespace tapestry {

// How a tensor of one file differs from that of another.
struct TensorDifference {
  std::string name;
  // "F32 (2, 3) and F32 (3, 2)", "only the first has it", "numbers of F4 differ"; "": as there
  std::string form = {};
  Index different = 0, count = 0;  // numbers of other bits, and all; 0 if the form differs

  // The first number that differs, if the form does not. The texts are decimal numbers; of a number
  // of 8 bits, a complex one, and a whole one that `real` cannot hold they are the bits, "0x61".
  std::vector<Index> place = {};
  std::string first = {}, second = {};
  // How many numbers of its type lie between the two, and one: 1 for neighbours, 0 for 0 and -0.
  // None for NaN, and for whole numbers.
  std::optional<std::uint64_t> ulp = {};
};

struct BitsCompared {
  Index tensors = 0, numbers = 0;                  // of the first file
  std::vector<TensorDifference> differences = {};  // in its order; then what only the second has
  std::vector<std::string> texts = {};             // the names of those that differ
};

// Compares tensors by name, of any type, as they are stored: 0 differs from -0, and a NaN is the
// same as one of the same bits. The order in the files does not count. Throws Error for a file that
// is missing or no safetensors.
[[nodiscard]] BitsCompared compare_bits(const std::filesystem::path& first,
                                        const std::filesystem::path& second);

}  // namespace tapestry
