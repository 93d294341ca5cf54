// The tests, each run as a process of its own.
#pragma once

#include <string>
#include <vector>

namespace mutants {

constexpr int no_mutant = -1;

enum class Outcome { passed, failed, too_long };

struct Test {
  std::string name;
  double seconds;                      // without a mutant
  std::vector<unsigned char> reached;  // for each mutant, whether this test comes past it
};

// The names of all tests of a test program.
std::vector<std::string> test_names(const std::string& program);

// Runs one test with this mutant, at most so long. `reached` names a file as TAPESTRY_MUTANTS_REACHED
// wants it; "" for none.
Outcome run_test(const std::string& program, const std::string& name, int mutant, double seconds,
                 const std::string& reached);

// What each test reaches, and how long it takes, when nothing is mutated. Throws
// std::runtime_error, naming the test, when one fails.
std::vector<Test> record(const std::string& program, const std::string& folder, std::size_t mutants,
                         int jobs);

// Calls work(i) for i = 0 ... count - 1, so many at a time.
template <class Work>
void in_parallel(std::size_t count, int jobs, Work work);

}  // namespace mutants

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

template <class Work>
void mutants::in_parallel(std::size_t count, int jobs, Work work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr problem;
  std::mutex mutex;
  const auto job = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      problem = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  for (int j = 0; j < jobs; ++j) threads.emplace_back(job);
  for (std::thread& thread : threads) thread.join();
  if (problem) std::rethrow_exception(problem);
}
