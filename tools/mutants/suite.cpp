#include "suite.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <thread>

#include "course/timing.hpp"
#include "process.hpp"
#include "tapestry/progress.hpp"
#include "weave.hpp"

namespace mutants {
namespace {

constexpr std::size_t most = 64;     // tests that one process runs
constexpr double most_seconds = 10;  // that they take: a mutant may never end

// A test name escaped for Catch2, to be taken literally: at its beginning - would mark an option
// and ~ the tests to leave out.
std::string escaped(const std::string& name) {
  std::string all = name.starts_with('-') || name.starts_with('~') ? "\\" : "";
  for (const char c : name) {
    if (c == ',' || c == '[' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::vector<std::string> test_names(const std::string& program) {
  // Catch2 2 lists plain names by the first, 3 by the second; both after the program's own line.
  for (const char* option : {" --list-test-names-only", " --list-tests --verbosity quiet"}) {
    std::vector<std::string> names;
    run_command(program + option + " 2>/dev/null",
                [&](const std::string& line) { names.push_back(line); });
    if (names.size() < 2) continue;
    names.erase(names.begin());
    return names;
  }
  throw std::runtime_error("mutants: " + program + " lists no tests");
}

// Runs the tests with these names, between commas, with one more environment variable.
Outcome run_tests(const std::string& program, const std::string& names, const std::string& setting,
                  double seconds) {
  std::vector<std::string> environment = {setting};
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string(*each).starts_with("TAPESTRY_MUTANT")) environment.push_back(*each);
  }
  return run_program({program, names}, std::move(environment), seconds);
}

}  // namespace

void in_parallel(const std::string& what, std::size_t count, const std::string& unit,
                 const std::function<void(std::size_t)>& work) {
  tapestry::Progress progress(what, static_cast<tapestry::Index>(count), unit);
  std::atomic<std::size_t> next{0};
  std::exception_ptr problem;
  std::mutex mutex;
  const auto job = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        problem = std::current_exception();
        next = count;
        return;
      }
      const std::lock_guard lock(mutex);
      progress.step();
    }
  };
  std::vector<std::thread> threads(std::max(2u, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(job);
  for (std::thread& thread : threads) thread.join();
  if (problem) std::rethrow_exception(problem);
}

Suite::Suite(const std::string& program, const std::string& folder) : program_(program) {
  const std::vector<std::string> names = test_names(program);
  tests_.resize(names.size());
  in_parallel("recording", names.size(), "tests", [&](std::size_t i) {
    tests_[i] = record(names[i], folder + "/reached-" + std::to_string(i));
  });
  std::sort(tests_.begin(), tests_.end(),
            [](const Test& a, const Test& b) { return a.seconds < b.seconds; });
}

Test Suite::record(const std::string& name, const std::string& path) const {
  std::ofstream(path) << std::string(most_mutants, '\0');
  for (int attempt = 0; attempt < 3; ++attempt) {  // a test that depends on time may fail
    const double start = tapestry::now();
    if (run_tests(program_, escaped(name), "TAPESTRY_MUTANTS_REACHED=" + path, 300) !=
        Outcome::passed) {
      continue;
    }
    const double seconds = tapestry::now() - start;
    std::ifstream file(path, std::ios::binary);
    Test test{name, seconds, {std::istreambuf_iterator<char>(file), {}}};
    std::remove(path.c_str());
    return test;
  }
  std::remove(path.c_str());
  std::printf("left out, for it fails though nothing is mutated: %s\n", name.c_str());
  std::fflush(stdout);
  return {name, 0, std::vector<unsigned char>(most_mutants)};
}

double Suite::seconds(std::size_t id) const {
  double sum = 0;
  for (const Test& test : tests_) sum += test.reached[id] ? test.seconds : 0;
  return sum;
}

Verdict Suite::try_mutant(std::size_t id, const std::string& file) {
  std::vector<const Test*> order;
  for (const Test& test : tests_) {
    if (test.reached[id]) order.push_back(&test);
  }
  {
    const std::lock_guard lock(mutex_);
    const auto& first = killers_[file];
    std::stable_partition(order.begin(), order.end(),
                          [&](const Test* test) { return first.count(test->name) > 0; });
  }
  // In groups, for a process costs more than most tests; small ones first, for most die early.
  std::size_t size = 1;
  for (std::span<const Test* const> rest = order; !rest.empty(); size = std::min(2 * size, most)) {
    std::size_t count = 1;
    for (double seconds = rest[0]->seconds; count < std::min(size, rest.size()); ++count) {
      seconds += rest[count]->seconds;
      if (seconds > most_seconds) break;
    }
    const auto group = rest.first(count);
    rest = rest.subspan(count);
    const Test* const killer = killer_among(group, id);
    if (killer == nullptr) continue;
    const std::lock_guard lock(mutex_);
    killers_[file].insert(killer->name);
    return {order.size(), killer->name};
  }
  return {order.size(), ""};
}

const Test* Suite::killer_among(std::span<const Test* const> tests, std::size_t id) const {
  if (tests.size() == 1) return kills(*tests[0], id) ? tests[0] : nullptr;
  std::string names;
  double seconds = 0;
  for (const Test* test : tests) {
    names += (names.empty() ? "" : ",") + escaped(test->name);
    seconds += test->seconds;
  }
  const std::string setting = "TAPESTRY_MUTANT=" + std::to_string(id);
  // A mutant may never end: the limit is short. What is slow by chance is tried again in halves.
  if (run_tests(program_, names, setting, 2 + 3 * seconds) == Outcome::passed) return nullptr;
  const std::size_t half = tests.size() / 2;
  const Test* const killer = killer_among(tests.first(half), id);
  return killer != nullptr ? killer : killer_among(tests.subspan(half), id);
}

// A test that fails has to fail again, and to pass without the mutant: one that depends on time
// must not count.
bool Suite::kills(const Test& test, std::size_t id) const {
  const double limit = 5 + 10 * test.seconds;
  const std::string setting = "TAPESTRY_MUTANT=" + std::to_string(id), name = escaped(test.name);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Outcome outcome = run_tests(program_, name, setting, limit);
    if (outcome != Outcome::failed) return outcome == Outcome::too_long;
  }
  return run_tests(program_, name, "TAPESTRY_MUTANT=-1", limit) == Outcome::passed;
}

}  // namespace mutants
