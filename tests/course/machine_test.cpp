#include "course/machine.hpp"

#include "catch.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/machine_limits.hpp"

using namespace tapestry;

TEST_CASE("measure_machine gives plausible limits of one core", "[phase0][machine]") {
  const int threads = threads_in_use();
  const Machine machine = measure_machine();
  CHECK(machine.kernels == kernel_set());
  CHECK(machine.threads == threads);
  CHECK((machine.peak_gflops > 0.01 && machine.peak_gflops < 1e5));
  CHECK((machine.read_gb_per_second > 0.01 && machine.read_gb_per_second < 1e5));
}

TEST_CASE(
    "the limits of several threads are measured, and the library goes on with as many as "
    "before",
    "[phase0][machine]") {
  const int threads = threads_in_use();
  const double arithmetic = peak_gflops(3, 0.01), reading = read_gb_per_second(2, 1 << 20, 0.01);
  CHECK((arithmetic > 0.01 && arithmetic < 1e6));
  CHECK((reading > 0.01 && reading < 1e6));
  CHECK(threads_in_use() == threads);
}

TEST_CASE("a burst of all threads does so many times the operations of one", "[phase0][machine]") {
  const int threads = threads_in_use();
  use_threads(1);
  const double one = multiply_add_burst(10);
  use_threads(3);
  CHECK(multiply_add_burst(10) == 3 * one);
  CHECK(multiply_add_burst(20) == 6 * one);
  use_threads(threads);
}
