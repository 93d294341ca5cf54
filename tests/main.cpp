// The test program: Catch2 with this project's habits (random order with a printed seed; a test
// that asserts nothing fails) and with the closing line `N passed, N failed`.
#define CATCH_CONFIG_RUNNER  // Catch2 2: put its implementation here
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "check_in_thread.hpp"

namespace {

#if CATCH_VERSION_MAJOR >= 3
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

Catch::Counts test_cases;  // of the run that just ended
bool ended = false;        // stays false where tests are only listed

class Count : public Listener {
 public:
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& run) override {
    test_cases = run.totals.testCases;
    ended = true;
    Listener::testRunEnded(run);
  }
};
CATCH_REGISTER_LISTENER(Count)

const std::thread::id main_thread = std::this_thread::get_id();

class OneThread : public Listener {
 public:
  using Listener::Listener;
  void assertionStarting(const Catch::AssertionInfo& assertion) override {
    if (tapestry::AssertsAlone::here || std::this_thread::get_id() == main_thread) return;
    std::fprintf(stderr, "%s:%zu: a thread asserts: take CHECK_IN_THREAD.\n",
                 assertion.lineInfo.file, assertion.lineInfo.line);
    std::abort();
  }
};
CATCH_REGISTER_LISTENER(OneThread)

// Puts `name value` before the user's arguments, unless they name that option themselves.
void add_default(std::vector<std::string>& arguments, const std::string& name,
                 const std::string& value) {
  if (std::find(arguments.begin(), arguments.end(), name) != arguments.end()) return;
  arguments.insert(arguments.begin() + 1, {name, value});
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> arguments(values, values + count);
  add_default(arguments, "--order", "rand");
  add_default(arguments, "--warn", "NoAssertions");
  add_default(arguments, "--rng-seed", std::to_string(std::time(nullptr) % 100000));

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  Catch::Session session;
  const int refused = session.applyCommandLine(static_cast<int>(pointers.size()), pointers.data());
  if (refused != 0) return refused;
  const auto& options = session.configData();
  std::cout << arguments[0] << ": seed " << options.rngSeed << " (again: " << arguments[0]
            << " --rng-seed " << options.rngSeed << ")" << std::endl;
  const int failed = session.run();
  if (!ended) return failed;
  if (test_cases.total() == 0) {
    std::cout << "no test has such a name or tag; list them with --list-tests" << std::endl;
    return 2;
  }
  std::cout << test_cases.passed << " passed, " << test_cases.failed + test_cases.failedButOk
            << " failed" << std::endl;
  return failed;
}
