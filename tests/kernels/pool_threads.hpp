// For tests of the pool: loops shared with given threads.
#pragma once

#include <atomic>
#include <thread>

#include "kernels/parallel.hpp"
#include "kernels/pool.hpp"

namespace tapestry::kernels {

template <class Body>
void share(const Sharing& sharing, const Body& body) {
  share(sharing,
        Parts{[](const void* f, Index part) { (*static_cast<const Body*>(f))(part); }, &body});
}

// Every thread has one part and waits in it until all have begun: ends only if they are so many.
inline int threads_that_meet(int threads) {
  std::atomic<int> begun{0};
  share({threads, threads, true, true}, [&](Index) {
    for (++begun; begun < threads;) std::this_thread::yield();
  });
  return begun;
}

// As long as there is one, the other threads come late to each loop.
class Late {
 public:
  Late() { others_come_late = true; }
  ~Late() { others_come_late = false; }
};

}  // namespace tapestry::kernels
