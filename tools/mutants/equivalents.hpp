// tests/mutants.txt: mutants that no test of this run can find, each with its reason. An entry is a
// file, the line before and after, and why nothing differs, after "= "; or, after "~ ", what would
// see the difference: a power failure, MPI, a sanitizer, a measurement of time.
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

struct Known {
  bool elsewhere;  // something else than these tests would see it
  std::string reason;
};

// By the names of mutants. Throws std::runtime_error when an entry is incomplete, or when entries
// have lines that no site of the sources has: it names all of these.
std::map<std::string, Known> read_known(const std::string& path,
                                        const std::vector<Source>& sources);

}  // namespace mutants
