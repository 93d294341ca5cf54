// The tests, run as processes of their own, one by one or in groups.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mutants {

struct Test {
  std::string name;
  double seconds;                      // without a mutant
  std::vector<unsigned char> reached;  // for each mutant, whether this test reaches it
};

struct Verdict {
  std::size_t tests = 0;  // that reach the mutant
  std::string killer;     // the test that failed; "": the mutant survives
};

// Calls work(i) for i = 0 ... count - 1, on all processors, and shows the progress.
void in_parallel(const std::string& what, std::size_t count, const std::string& unit,
                 const std::function<void(std::size_t)>& work);

// The tests of a program that is built with mutants in it.
class Suite {
 public:
  // Runs each test without a mutant, and notes which mutants it reaches and its time. `folder` is
  // for temporary files. A test that fails is named and left out.
  Suite(const std::string& program, const std::string& folder);

  // Of all tests that reach this mutant.
  double seconds(std::size_t id) const;

  // Whether a test kills this mutant: first those that killed another one of this file, then the
  // fast ones. Thread-safe.
  Verdict try_mutant(std::size_t id, const std::string& file);

 private:
  Test record(const std::string& name, const std::string& path) const;
  // The first test that kills the mutant, or null.
  const Test* killer_among(std::span<const Test* const> tests, std::size_t id) const;
  bool kills(const Test& test, std::size_t id) const;

  std::string program_;
  std::vector<Test> tests_;
  std::map<std::string, std::set<std::string>> killers_;  // for each file
  std::mutex mutex_;
};

}  // namespace mutants
