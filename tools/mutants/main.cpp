// mutants: can the tests fail? It changes the library in small ways, one at a time, and runs the
// tests that come past the change: a test that fails has killed the mutant. `make mutants` starts
// it; CONTRIBUTING.md tells how to work with it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "build.hpp"
#include "draw.hpp"
#include "equivalents.hpp"
#include "options.hpp"
#include "suite.hpp"
#include "weave.hpp"

namespace mutants {
namespace {

namespace fs = std::filesystem;

const char* const program = "build/mutants/tests";
const char* const scratch = "build/mutants/tmp";

struct Verdict {
  bool killed = false, listed = false;
  std::size_t reached_by = 0;
  std::string killer;
};

double seconds() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("mutants: cannot read " + path.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The lines that the compiler sees, of the files that were asked about: PATH:LINE each.
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
  for (const auto& entry : fs::recursive_directory_iterator("src")) {
    const std::string end = entry.path().extension().string();
    if (end == ".cpp" || end == ".hpp") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Source> sources;
  for (const std::string& path : paths) {
    sources.push_back(read_source(path, read(path)));
    const auto found = lines.find(path);
    sources.back().conditional = found != lines.end();
    if (found != lines.end()) sources.back().compiled = found->second;
  }
  return sources;
}

void show_sites(const std::string& path) {
  const std::vector<Source> source = {read_source(path, read(path))};
  for (const Site& site : sites_of(source[0], needed_names(source))) {
    std::printf("- %s\n+ %s\n", site.original.c_str(), site.mutated.c_str());
  }
}

// Draws, weaves and builds, until all that is drawn compiles: the library, and then the rest.
std::vector<Mutant> prepare(const std::vector<Source>& sources, const Options& options) {
  const char* const make = std::getenv("MAKE");
  const std::string command = std::string(make ? make : "make") + " -k MODE=mutants ";
  std::set<std::string> refused;
  for (;;) {
    std::vector<Mutant> mutants = draw(sources, options.count, options.seed, refused);
    if (options.list) return mutants;
    weave("src", "build/mutants/src", mutants);
    std::set<std::string> more = build(command + "build/mutants/libtapestry.a", mutants);
    if (more.empty()) more = build(command + program, mutants);
    std::printf("%zu mutants built, %zu redrawn for they do not compile (%.0f s)\n", mutants.size(),
                refused.size() + more.size(), seconds());
    std::fflush(stdout);
    if (more.empty()) return mutants;
    refused.insert(more.begin(), more.end());
  }
}

class Trial {
 public:
  Trial(std::vector<Test> tests, const std::vector<Mutant>& mutants)
      : tests_(std::move(tests)), mutants_(mutants) {
    std::sort(tests_.begin(), tests_.end(),
              [](const Test& a, const Test& b) { return a.seconds < b.seconds; });
  }

  // Tests that have killed a mutant of this file come first, then the quick ones.
  Verdict run(std::size_t id) {
    const std::string path = mutants_[id].source->path;
    std::vector<const Test*> order;
    for (const Test& test : tests_) {
      if (test.reached[id]) order.push_back(&test);
    }
    std::stable_partition(order.begin(), order.end(), [&](const Test* test) {
      const std::lock_guard lock(mutex_);
      return killers_[path].count(test->name) > 0;
    });
    Verdict verdict{false, false, order.size(), ""};
    for (const Test* test : order) {
      if (!kills(*test, id)) continue;
      const std::lock_guard lock(mutex_);
      killers_[path].insert(test->name);
      verdict.killed = true;
      verdict.killer = test->name;
      break;
    }
    return verdict;
  }

 private:
  // A test that fails has to fail again: one that depends on time must not count.
  bool kills(const Test& test, std::size_t id) const {
    const double limit = 5 + 20 * test.seconds;
    const Outcome first = run_test(program, test.name, static_cast<int>(id), limit, "");
    if (first != Outcome::failed) return first == Outcome::too_long;
    return run_test(program, test.name, static_cast<int>(id), limit, "") != Outcome::passed;
  }

  std::vector<Test> tests_;
  const std::vector<Mutant>& mutants_;
  std::map<std::string, std::set<std::string>> killers_;
  std::mutex mutex_;
};

std::string place(const Mutant& mutant) {
  return mutant.source->path + ":" + std::to_string(mutant.site.first_line);
}

bool chosen(const Mutant& mutant, std::size_t id, const Options& options) {
  return mutant.source->path.starts_with(options.only) && id % options.parts == options.part;
}

// Writes what became of each mutant, and says which survive. True if few enough do.
bool report(const std::vector<Mutant>& mutants, const std::vector<std::size_t>& ids,
            const std::vector<Verdict>& verdicts, const Options& options) {
  fs::create_directories("out");
  std::ofstream file("out/mutants.txt");
  std::size_t killed = 0, listed = 0, surviving = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Mutant& mutant = mutants[ids[i]];
    const Verdict& verdict = verdicts[i];
    const bool survives = !verdict.killed && !verdict.listed;
    (verdict.killed ? killed : verdict.listed ? listed : surviving) += 1;
    const std::string text =
        place(mutant) + "\n- " + mutant.site.original + "\n+ " + mutant.site.mutated + "\n";
    std::string fate =
        verdict.listed ? "equivalent" : "survives " + std::to_string(verdict.reached_by) + " tests";
    if (verdict.killed) fate = "killed by: " + verdict.killer;
    file << text << "  " << fate << "\n\n";
    if (survives) std::printf("\n%s  %s\n", text.c_str(), fate.c_str());
  }
  char line[160];
  std::snprintf(line, sizeof line,
                "%zu mutants: %zu killed, %zu equivalent, %zu surviving (seed %llu, %.0f s)",
                ids.size(), killed, listed, surviving,
                static_cast<unsigned long long>(options.seed), seconds());
  file << line << "\n";
  std::printf("\n%s\n", line);
  return options.seed == 1 ? surviving == 0 : 100 * surviving <= 3 * ids.size();
}

bool run(const Options& options) {
  const std::vector<Source> sources = read_sources(options);
  const auto equivalents = read_equivalents("tests/mutants.txt", sources);
  const std::vector<Mutant> mutants = prepare(sources, options);
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < mutants.size(); ++id) {
    if (chosen(mutants[id], id, options)) ids.push_back(id);
  }
  if (options.list) {
    for (const std::size_t id : ids) {
      const Mutant& mutant = mutants[id];
      std::printf("%s\n- %s\n+ %s\n", place(mutant).c_str(), mutant.site.original.c_str(),
                  mutant.site.mutated.c_str());
    }
    return true;
  }
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  ::setenv("TMPDIR", fs::absolute(scratch).c_str(), 1);
  const int jobs = static_cast<int>(std::max(2u, std::thread::hardware_concurrency()));
  Trial trial(record(program, fs::absolute(scratch).string(), mutants.size(), jobs), mutants);
  std::printf("tests recorded (%.0f s)\n", seconds());
  std::fflush(stdout);
  std::vector<Verdict> verdicts(ids.size());
  in_parallel(ids.size(), jobs, [&](std::size_t i) {
    verdicts[i].listed = equivalents.count(mutants[ids[i]].name()) > 0;
    if (!verdicts[i].listed) verdicts[i] = trial.run(ids[i]);
  });
  fs::remove_all(scratch);
  return report(mutants, ids, verdicts, options);
}

}  // namespace
}  // namespace mutants

int main(int count, char** values) {
  try {
    mutants::seconds();
    const mutants::Options options = mutants::options_of(count, values);
    if (!options.sites.empty()) {
      mutants::show_sites(options.sites);
      return 0;
    }
    return mutants::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
