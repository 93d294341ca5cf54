// mutants: mutation testing. It changes the library in small ways, one at a time, and runs the
// tests that reach the change: a test that fails has killed the mutant. `make mutants` starts it;
// CONTRIBUTING.md tells how to work with it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "build.hpp"
#include "course/timing.hpp"
#include "draw.hpp"
#include "equivalents.hpp"
#include "options.hpp"
#include "process.hpp"
#include "reused.hpp"
#include "suite.hpp"
#include "tapestry/format.hpp"
#include "weave.hpp"

namespace mutants {
namespace {

namespace fs = std::filesystem;

const std::string program = "build/mutants/tests", woven = "build/mutants/src";
constexpr std::uint64_t default_seed = 1;

double seconds() {
  static const double start = tapestry::now();
  return tapestry::now() - start;
}

// The lines that the compiler sees, of the files with such a list: PATH:LINE each.
std::map<std::string, std::set<int>> read_lines(const std::string& folder) {
  std::map<std::string, std::set<int>> lines;
  if (folder.empty()) return lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    lines[entry.path().lexically_relative(folder).string() + ".cpp"];
    std::ifstream file(entry.path());
    for (std::string path, line; std::getline(file, path, ':') && std::getline(file, line);) {
      lines[path].insert(std::atoi(line.c_str()));
    }
  }
  return lines;
}

std::vector<Source> read_sources(const Options& options) {
  const auto lines = read_lines(options.lines);
  std::vector<std::string> paths;
  for (const auto& [path, place] : places()) {
    const std::string end = path.extension().string();
    if (end == ".cpp" || end == ".hpp") paths.push_back(path.string());
  }
  std::sort(paths.begin(), paths.end());
  std::set<fs::path> unlisted;  // folders with a source that has no list
  for (const std::string& path : paths) {
    const bool has_none = path.ends_with(".cpp") && lines.count(path) == 0;
    if (has_none) unlisted.insert(fs::path(path).parent_path());
  }
  std::vector<Source> sources;
  for (const std::string& path : paths) {
    sources.push_back(read_source(path));
    const auto found = lines.find(path);
    // A header that no list names is not compiled here if each source beside it has a list.
    sources.back().conditional =
        found != lines.end() || unlisted.count(fs::path(path).parent_path()) == 0;
    if (found != lines.end()) sources.back().compiled = found->second;
  }
  return sources;
}

std::string shown(const Site& site) { return "- " + site.original + "\n+ " + site.mutated + "\n"; }

std::string shown(const Mutant& mutant) {
  return mutant.source->path + ":" + std::to_string(mutant.site.line) + "\n" + shown(mutant.site);
}

bool show_sites(const std::string& path) {
  const std::vector<Source> source = {read_source(path)};
  for (const Site& site : sites_of(source[0], needed_names(source))) {
    std::printf("%s", shown(site).c_str());
  }
  return true;
}

void say(const std::string& what) {
  std::printf("%s (%.0f s)\n", what.c_str(), seconds());
  std::fflush(stdout);
}

// Mutants that did not compile are remembered for the next run, to save builds.
std::string refused_path(const Options& options) {
  return "build/mutants/refused-" + std::to_string(options.seed);
}

std::set<std::string> read_refused(const Options& options) {
  std::set<std::string> names;
  std::ifstream file(refused_path(options));
  for (std::string path, original, mutated;
       std::getline(file, path) && std::getline(file, original) && std::getline(file, mutated);) {
    names.insert(path + "\n" + original + "\n" + mutated);
  }
  return names;
}

// Tells the Makefile which objects of the release build will do.
void reuse(const std::vector<std::string>& objects) {
  std::ofstream file("build/mutants/reused");
  for (const std::string& object : objects) file << object << "\n";
}

// Those of this share, in the files given.
std::vector<std::size_t> chosen(const std::vector<Mutant>& mutants, const Options& options) {
  std::vector<std::size_t> ids;
  const auto [part, parts] = options.share;
  for (std::size_t id = 0; id < mutants.size(); ++id) {
    const bool shared = mutants[id].number % parts == part - 1;
    if (shared && mutants[id].source->path.starts_with(options.only)) ids.push_back(id);
  }
  if (ids.empty()) {
    throw std::runtime_error("mutants: none of these " + std::to_string(mutants.size()) +
                             " is in '" + options.only + "'; LIST=1 shows them.");
  }
  return ids;
}

// All mutants of the files with a chosen one: where one does not compile another comes in, which
// may move others of its file to the next share.
std::vector<Mutant> needed(const std::vector<Mutant>& mutants, const Options& options) {
  std::set<const Source*> files;
  for (const std::size_t id : chosen(mutants, options)) files.insert(mutants[id].source);
  std::vector<Mutant> all;
  std::copy_if(mutants.begin(), mutants.end(), std::back_inserter(all),
               [&](const Mutant& mutant) { return files.count(mutant.source) > 0; });
  return all;
}

// Draws, writes and builds what is needed, until all of it compiles: the library, and then the
// rest.
std::vector<Mutant> prepare(const std::vector<Source>& sources, const Options& options) {
  const char* const told = std::getenv("MAKE");
  const std::string make = told ? told : "make";
  const std::string command = make + " -k MODE=mutants ";
  std::set<std::string> refused = read_refused(options);
  for (;;) {
    const std::vector<Mutant> mutants =
        needed(draw(sources, options.count, options.seed, refused), options);
    if (options.list) return mutants;
    say("building " + std::to_string(mutants.size()) + " mutants");
    weave(woven, mutants);
    reuse(reused_objects(make, mutants, woven));
    std::set<std::string> more = build(command + "build/mutants/libtapestry.a", mutants);
    if (more.empty()) more = build(command + program, mutants);
    if (more.empty()) return mutants;
    say(std::to_string(more.size()) + " do not compile, and are drawn again");
    refused.insert(more.begin(), more.end());
    std::ofstream file(refused_path(options));
    for (const std::string& name : refused) file << name << "\n";
  }
}

// A folder for what tests write.
struct Scratch {
  Scratch() {
    fs::remove_all(path);
    fs::create_directories(path);
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  const fs::path path = fs::absolute("build/mutants/tmp");
};

using Listed = std::map<std::string, Known>;  // in tests/mutants.txt

// The result of each mutant. Those listed are not run.
std::vector<Verdict> verdicts_on(const std::vector<Mutant>& mutants,
                                 const std::vector<std::size_t>& ids, const Listed& listed) {
  const Scratch scratch;
  Suite suite(program, scratch.path.string());
  std::vector<Verdict> verdicts(ids.size());
  std::vector<std::size_t> order(
      ids.size());  // long ones first, so that no processor waits for one
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return suite.seconds(ids[a]) > suite.seconds(ids[b]);
  });
  in_parallel("running", ids.size(), "mutants", [&](std::size_t turn) {
    const std::size_t i = order[turn];
    const Mutant& mutant = mutants[ids[i]];
    if (listed.count(mutant.name()) > 0) return;
    verdicts[i] = suite.try_mutant(ids[i], mutant.source->path);
  });
  return verdicts;
}

struct Counts {
  std::size_t killed = 0, equivalent = 0, elsewhere = 0, surviving = 0;
};

// The result of a mutant as text; also counts it.
std::string result_of(const Verdict& verdict, const Known* known, Counts& counts) {
  if (!verdict.killer.empty()) {
    ++counts.killed;
    return "  killed by: " + verdict.killer + "\n";
  }
  if (known) {
    ++(known->elsewhere ? counts.elsewhere : counts.equivalent);
    return (known->elsewhere ? "  seen elsewhere: " : "  equivalent: ") + known->reason + "\n";
  }
  ++counts.surviving;
  return "  survives " + std::to_string(verdict.tests) + " tests\n";
}

// Writes the result of each mutant, and prints the survivors. True if there are few enough.
bool report(const std::vector<Mutant>& mutants, const std::vector<std::size_t>& ids,
            const Listed& listed, std::uint64_t seed) {
  const std::vector<Verdict> verdicts = verdicts_on(mutants, ids, listed);
  Counts counts;
  std::string all;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Mutant& mutant = mutants[ids[i]];
    const auto found = listed.find(mutant.name());
    const std::size_t before = counts.surviving;
    const std::string text =
        shown(mutant) +
        result_of(verdicts[i], found == listed.end() ? nullptr : &found->second, counts);
    if (counts.surviving > before) std::printf("\n%s", text.c_str());
    all += text + "\n";
  }
  const std::string line = tapestry::formatted(
      "%zu mutants: %zu killed, %zu equivalent, %zu seen elsewhere, %zu surviving "
      "(seed %llu, %.0f s)",
      ids.size(), counts.killed, counts.equivalent, counts.elsewhere, counts.surviving,
      static_cast<unsigned long long>(seed), seconds());
  fs::create_directories("out");
  std::ofstream("out/mutants.txt") << all << line << "\n";
  std::printf("\n%s\n", line.c_str());
  return seed == default_seed ? counts.surviving == 0 : 100 * counts.surviving <= 3 * ids.size();
}

bool run(const Options& options) {
  if (!options.sites.empty()) return show_sites(options.sites);
  end_children_on_signals();
  const std::vector<Source> sources = read_sources(options);
  const Listed listed = read_known("tests/mutants.txt", sources);
  const std::vector<Mutant> mutants = prepare(sources, options);
  const std::vector<std::size_t> ids = chosen(mutants, options);
  if (!options.list) return report(mutants, ids, listed, options.seed);
  for (const std::size_t id : ids) std::printf("%s", shown(mutants[id]).c_str());
  return true;
}

}  // namespace
}  // namespace mutants

int main(int count, char** values) {
  try {
    mutants::seconds();
    return mutants::run(mutants::options_of(count, values)) ? 0 : 1;
  } catch (const mutants::Interrupted& interrupted) {
    std::fprintf(stderr, "%s\n", interrupted.what());
    return 130;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
