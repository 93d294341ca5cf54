#include "reused.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "process.hpp"
#include "weave.hpp"

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

// The objects of tests and of what they link besides the library
std::vector<fs::path> objects_of_tests() {
  std::vector<fs::path> all;
  for (const char* const folder : {"tests", "tools/tapestry", "tools/explorer/engine"}) {
    if (!fs::exists(objects + folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(objects + folder)) {
      if (entry.path().extension() == ".o") all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The object's second name: where make looks for that of a file in the folder of mutated sources.
std::string linked(const fs::path& object, fs::path source) {
  const fs::path link = objects + source.replace_extension(".o").string();
  fs::create_directories(link.parent_path());
  fs::remove(link);
  fs::create_symlink(fs::absolute(object), link);
  return link.string();
}

}  // namespace

std::vector<std::string> reused_objects(const std::string& make, const std::vector<Mutant>& mutants,
                                        const std::string& woven) {
  std::set<std::string> mutated;
  for (const Mutant& mutant : mutants) mutated.insert(mutant.source->path);
  const std::set<std::string> too_old = stale(make);
  const auto usable = [&](const fs::path& object) {
    const fs::path list = fs::path(object).replace_extension(".d");
    return fs::exists(object) && fs::exists(list) && too_old.count(object.string()) == 0 &&
           !names_one_of(list, mutated);
  };
  std::vector<std::string> reused;
  for (const fs::path& object : objects_of_tests()) {
    if (usable(object)) reused.push_back(object.string());
  }
  for (const auto& [path, place] : places()) {
    const fs::path object = objects + fs::path(path).replace_extension(".o").string();
    if (path.extension() == ".hpp" || !usable(object)) continue;
    reused.push_back(linked(object, fs::path(woven) / place));
  }
  return reused;
}

}  // namespace mutants
