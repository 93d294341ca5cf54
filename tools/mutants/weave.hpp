// The sources with all mutants in them, each behind a question to `mutant(id)`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "draw.hpp"

namespace mutants {

constexpr std::size_t most_mutants = 4096;

// Writes the sources below `from` to `to`, with the mutants; ids count from 0. Files that already
// stand there with the same text are left alone, others than these are removed.
void weave(const std::filesystem::path& from, const std::filesystem::path& to,
           const std::vector<Mutant>& mutants);

}  // namespace mutants
