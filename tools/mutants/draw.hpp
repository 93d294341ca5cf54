// The choice of the sites that become mutants.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sites.hpp"

namespace mutants {

struct Mutant {
  const Source* source;
  Site site;
  std::size_t number;  // in the draw: shares are counted by it
  // File and lines, as in lists: the name of a mutant, whatever else changes.
  std::string name() const;
};

std::string name_of(const std::string& path, const std::string& original,
                    const std::string& mutated);

// Mutants drawn by seed: one of each file that has any, however many these are, then from all, up
// to `count`, in proportion to their code, all rules equally often. A site's rank depends on its
// lines alone, so that most of the draw stays when the sources change. No two overlap in part. In
// the place of one that is `refused`, the next of the same file is drawn: so what is drawn from a
// file, and its numbers, depend on no other file's refusals, which a share does not know. They are
// in the order of files and lines.
std::vector<Mutant> draw(const std::vector<Source>& sources, std::size_t count, std::uint64_t seed,
                         const std::set<std::string>& refused);

// Numbers in [0, 1) from a text and a seed.
double chance(const std::string& text, std::uint64_t seed);

}  // namespace mutants
