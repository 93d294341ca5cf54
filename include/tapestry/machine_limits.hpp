// Work of which only the time matters: how fast this machine can compute and read memory at most.
// `make bench` compares operations with these limits. Models do not need it.
//
//   const auto before = std::chrono::steady_clock::now();
//   const double operations = multiply_add_burst(10'000'000);
//   const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
//   std::cout << operations / seconds.count() / 1e9 << " GFLOP/s at most";
#pragma once

#include <span>

#include "tapestry/real.hpp"

namespace tapestry {

// All threads in use multiply and add in registers, `rounds` rounds each, with the kernel set in
// use. Returns how many operations that were, of all threads together.
double multiply_add_burst(Index rounds);

// Each of the threads in use reads its part of the numbers once.
void read_burst(std::span<const real> numbers);

}  // namespace tapestry
