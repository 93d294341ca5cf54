// All mutants in one build.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "draw.hpp"

namespace mutants {

// Runs this command, which compiles the woven sources. Empty if all went well; else the mutants
// that its messages speak of, by their names. Throws std::runtime_error, with the messages, when
// they speak of none.
std::set<std::string> build(const std::string& command, const std::vector<Mutant>& mutants);

}  // namespace mutants
