// The sources with all mutants in them, each behind a question to `mutant(id)`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "draw.hpp"

namespace mutants {

// The text of a file with these mutants of it, whose ids are first_id, first_id + 1, ... Lines keep
// their numbers.
std::string woven(const Source& source, const std::vector<Site>& sites, std::size_t first_id);

// Writes the sources below `from` to `to`, with the mutants; ids count from 0. Files that already
// stand there with the same text are left alone, others than these are removed.
void weave(const std::filesystem::path& from, const std::filesystem::path& to,
           const std::vector<Mutant>& mutants);

}  // namespace mutants
