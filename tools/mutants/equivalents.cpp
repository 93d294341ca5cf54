#include "equivalents.hpp"

#include <fstream>
#include <set>
#include <stdexcept>

#include "draw.hpp"

namespace mutants {

std::map<std::string, std::string> read_equivalents(const std::string& path,
                                                    const std::vector<Source>& sources) {
  const std::set<std::string> needed = needed_names(sources);
  std::set<std::string> sites;
  for (const Source& source : sources) {
    for (const Site& site : sites_of(source, needed)) {
      sites.insert(name_of(source.path, site.original, site.mutated));
    }
  }
  std::map<std::string, std::string> reasons;
  std::ifstream file(path);
  std::string line, where, original, mutated;
  for (int number = 1; std::getline(file, line); ++number) {
    const auto wrong = [&](const std::string& what) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + what);
    };
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (line.empty() || line.starts_with("#")) continue;
    if (line.starts_with("- ")) {
      original = rest;
    } else if (line.starts_with("+ ")) {
      mutated = rest;
    } else if (line.starts_with("= ")) {
      const std::string name = name_of(where, original, mutated);
      if (sites.count(name) == 0) wrong("no line of " + where + " is mutated like this any more");
      reasons[name] = rest;
      mutated = original = "";
    } else if (original.empty()) {
      where = line;
    } else {
      wrong("an entry is a file, then lines that begin with '- ', '+ ' and '= '");
    }
  }
  if (!original.empty()) throw std::runtime_error(path + ": the last entry has no reason");
  return reasons;
}

}  // namespace mutants
