#include "reused.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "process.hpp"

namespace mutants {
namespace {

namespace fs = std::filesystem;

const std::string objects = "build/release/obj/";

// What `make` would compile again: the words after -o in what it would run.
std::set<std::string> stale(const std::string& make) {
  std::set<std::string> found;
  run_command(make + " -n build/release/tests", [&](const std::string& line) {
    const std::size_t at = line.find(" -o " + objects);
    if (at == std::string::npos) return;
    const std::size_t from = at + 4;
    found.insert(line.substr(from, line.find(' ', from) - from));
  });
  return found;
}

// Whether the list of a compiler, "OBJECT: FILE FILE ...", has one of these files.
bool names_one_of(const fs::path& list, const std::set<std::string>& paths) {
  std::ifstream file(list);
  for (std::string word; file >> word;) {
    if (word.ends_with(':')) word.pop_back();
    if (paths.count(fs::path(word).lexically_normal().string()) > 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> reused_objects(const std::string& make,
                                        const std::vector<Mutant>& mutants) {
  std::set<std::string> mutated;
  for (const Mutant& mutant : mutants) mutated.insert(mutant.source->path);
  const std::set<std::string> too_old = stale(make);
  std::vector<std::string> reused;
  for (const char* const folder : {"tests", "tools/tapestry", "tools/explorer/engine"}) {
    if (!fs::exists(objects + folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(objects + folder)) {
      const fs::path list = entry.path();
      const std::string object = fs::path(list).replace_extension(".o").string();
      if (list.extension() != ".d" || !fs::exists(object)) continue;
      if (too_old.count(object) > 0 || names_one_of(list, mutated)) continue;
      reused.push_back(object);
    }
  }
  std::sort(reused.begin(), reused.end());
  return reused;
}

}  // namespace mutants
