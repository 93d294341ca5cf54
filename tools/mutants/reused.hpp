// What need not be compiled again.
#pragma once

#include <string>
#include <vector>

#include "draw.hpp"

namespace mutants {

// The objects of the release build that are up to date, as `make` finds, and hold no mutant: of
// tests, which seldom include a header with a mutant, of what they link, and of the library, which
// make compiles from the folder `woven`: there a link stands for each. None where nothing was built
// before.
std::vector<std::string> reused_objects(const std::string& make, const std::vector<Mutant>& mutants,
                                        const std::string& woven);

}  // namespace mutants
