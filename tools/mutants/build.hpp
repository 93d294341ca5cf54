// All mutants in one build.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "draw.hpp"

namespace mutants {

// Runs this command, which compiles the mutated sources. Empty on success; else the names of the
// mutants in its messages. Throws std::runtime_error, with the messages, if they name none.
std::set<std::string> build(const std::string& command, const std::vector<Mutant>& mutants);

}  // namespace mutants
