// The sources with all mutants in them, each switched by `mutant(id)`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <vector>

#include "draw.hpp"

namespace mutants {

constexpr std::size_t most_mutants = 4096;

// The files of src/, and of tutorials/course/ where there is one, and their places in the folder of
// mutated sources: course/ beside the rooms of src/.
std::map<std::filesystem::path, std::filesystem::path> places();

// Writes them below `to`, with the mutants; ids count from 0. Files there with the same text are
// left alone; others than these are removed.
void weave(const std::filesystem::path& to, const std::vector<Mutant>& mutants);

}  // namespace mutants
