// What need not be compiled again.
#pragma once

#include <string>
#include <vector>

#include "draw.hpp"

namespace mutants {

// The objects of the release build that are up to date, as `make` finds, and hold no mutant, of
// tests and of what they link besides the library: most tests include no header with a mutant. None
// where nothing was built before.
std::vector<std::string> reused_objects(const std::string& make,
                                        const std::vector<Mutant>& mutants);

}  // namespace mutants
