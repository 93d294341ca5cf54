// What this thread does between operations, recorded or not, in both passes. A rank that computes
// for long answers the others there (distributed/mpi_ranks.cpp).
#pragma once

namespace tapestry {

struct BetweenOperations {
  void (*call)(void*) = nullptr;
  void* with = nullptr;

  void operator()() const {
    if (call != nullptr) call(with);
  }
};

inline thread_local BetweenOperations between_operations;

}  // namespace tapestry
