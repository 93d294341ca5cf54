// How many threads share loops.
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <utility>

#include "catch.hpp"
#include "kernels/parallel.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"
#include "threads.hpp"

namespace tapestry::kernels {

TEST_CASE("the number of threads: of each calling thread, and from OMP_NUM_THREADS",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  const int at_the_start = threads_in_use();
  CHECK(at_the_start >= 1);
  use_threads(at_the_start + 3);
  CHECK(threads_in_use() == at_the_start + 3);
  int of_another = 0;
  std::thread([&] { of_another = threads_in_use(); }).join();
  CHECK(of_another == count_at_the_start(std::getenv("OMP_NUM_THREADS")));
  use_threads(1'000'000);
  CHECK(threads_in_use() == most_threads);
  CHECK(threads_in_use() == 255);
  use_threads(1);
  CHECK(threads_in_use() == 1);
  CHECK(complaint([] { use_threads(0); }, {"use_threads: 0 threads", "1 is the least"}) == "");
  CHECK(threads_in_use() == 1);

  for (const auto& [text, number] : std::initializer_list<std::pair<const char*, int>>{
           {"1", 1}, {"4", 4}, {" 3 ", 3}, {"6,2,1", 6}, {"5 , 2", 5}, {"16", 16}}) {
    CHECK(first_number(text) == number);
    CHECK(count_at_the_start(text) == number);
  }
  CHECK(first_number(std::string_view("42", 1)) == 4);  // no end but the view's
  CHECK(count_at_the_start("9999") == most_threads);
  const int processors = count_at_the_start(nullptr);
  CHECK(processors >= 1);
  CHECK(processors <= int(std::thread::hardware_concurrency()));
  for (const char* const nonsense : {"", " ", "0", "-2", "two", "3x", "3 4", ",3", "99999999999"}) {
    CAPTURE(nonsense);
    CHECK(first_number(nonsense) == 0);
    CHECK(count_at_the_start(nonsense) == processors);
  }
}

TEST_CASE("a process bound to one processor begins with one thread", "[phase0][kernels]") {
  int count = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) count = count_at_the_start(nullptr);
  }).join();
  CHECK(count == 1);
}

TEST_CASE("rows are shared by how many numbers they have", "[phase0][kernels]") {
  CHECK(row_grain(0) == 1);
  CHECK(row_grain(1) == parallel_grain);
  CHECK(row_grain(100) == parallel_grain / 100);
  CHECK(row_grain(parallel_grain / 2) == 2);
  CHECK(row_grain(parallel_grain) == 1);
  CHECK(row_grain(10 * parallel_grain) == 1);
}

TEST_CASE("processors of a control group: time by period, or no limit", "[phase0][kernels]") {
  const TemporaryFolder folder;
  const auto quota_of = [&](const char* text) {
    std::ofstream(folder / "cpu.max") << text;
    return quota((folder / "cpu.max").c_str());
  };
  CHECK(quota_of("200000 100000\n") == 2);
  CHECK(quota_of("50000 100000\n") == 0.5);
  CHECK(quota_of("1 1\n") == 1);
  for (const char* unlimited : {"max 100000\n", "", "0 100000\n", "100000 0\n", "100000\n"}) {
    CAPTURE(unlimited);
    CHECK(quota_of(unlimited) == most_threads);
  }
  CHECK(quota((folder / "none").c_str()) == most_threads);
}

}  // namespace tapestry::kernels
