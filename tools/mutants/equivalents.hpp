// tests/mutants.txt: equivalent mutants, which no test can find, each with its reason. An entry is
// a file, the line before and after, and why nothing differs:
//
//   src/plot/axes.cpp
//   - if (a < b) return b;
//   + if (a <= b) return b;
//   = Equal numbers are the same number.
//
// More lines like these three may follow for the same file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sites.hpp"

namespace mutants {

// Each mutant's name and its reason. Throws std::runtime_error when an entry is incomplete, or when
// entries have lines that no site of the sources has: it names all of these.
std::map<std::string, std::string> read_equivalents(const std::string& path,
                                                    const std::vector<Source>& sources);

}  // namespace mutants
