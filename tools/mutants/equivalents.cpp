#include "equivalents.hpp"

#include <fstream>
#include <set>
#include <stdexcept>

#include "draw.hpp"

namespace mutants {
namespace {

std::set<std::string> all_names(const std::vector<Source>& sources) {
  const std::set<std::string> needed = needed_names(sources);
  std::set<std::string> names;
  for (Source source : sources) {
    source.conditional = false;  // an entry may be for another processor
    for (const Site& site : sites_of(source, needed)) {
      names.insert(name_of(source.path, site.original, site.mutated));
    }
  }
  return names;
}

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

}  // namespace

std::map<std::string, Known> read_known(const std::string& path,
                                        const std::vector<Source>& sources) {
  const std::set<std::string> names = all_names(sources);
  std::map<std::string, Known> known;
  std::string stale;
  std::ifstream file(path);
  std::string line, where, original, mutated;
  int number = 0;
  const auto wrong = [&](const std::string& what) { refuse(path, number, what); };
  while (std::getline(file, line) && ++number) {
    if (line.empty() || line.starts_with("#")) continue;
    const std::string mark = line.substr(0, 2), rest = line.substr(mark.size());
    if (mark == "- " && original.empty()) {
      original = rest;
    } else if (mark == "+ " && !original.empty() && mutated.empty()) {
      mutated = rest;
    } else if ((mark == "= " || mark == "~ ") && !rest.empty() && !mutated.empty()) {
      const std::string name = name_of(where, original, mutated);
      if (names.count(name) == 0) {
        stale += "\n" + path + ":" + std::to_string(number) + ": " + where + ": " + mutated;
      }
      known[name] = {mark == "~ ", rest};
      mutated = original = "";
    } else if (original.empty() &&
               (line.starts_with("src/") || line.starts_with("tutorials/course/"))) {
      where = line;
    } else {
      wrong("an entry is a file, then lines that begin with '- ', '+ ', and '= ' or '~ '");
    }
  }
  if (!original.empty()) wrong("the last entry has no reason");
  if (!stale.empty()) throw std::runtime_error("no line is mutated like this any more:" + stale);
  return known;
}

}  // namespace mutants
