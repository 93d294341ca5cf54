// The thread pool, and how one loop is shared among its threads. Kernels use parallel.hpp.
//
// The owner of a loop works, too, and does not wait for threads that have not begun: after its own
// share it takes over parts of theirs, so that a late thread causes no delay. Only a thread that is
// stopped within a part does, on a busy machine. When more time was lost in that way than sharing
// has saved, loops are not shared for twenty times as long.
//
// One loop is shared at a time. A second thread's loop, and a loop within a part, are not shared.
// The child of a fork() creates its own threads; do not fork within a part.
#pragma once

#include <atomic>
#include <string_view>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

inline constexpr int most_threads = 255;

// How many threads share the loops of the calling thread: what it set, or OMP_NUM_THREADS (its
// first number; anything else is ignored), or as many processors as this process may use.
int thread_count();
int count_at_the_start(const char* wish);  // if none was set; the text may be null
int first_number(std::string_view text);   // of such a list; 0 if it is invalid
// The container's limit of processor time, in processors, from such a file; most_threads without a
// limit.
double quota(const char* path);
void set_thread_count(int count);  // 1 or more; above most_threads is most_threads

// How to divide a loop.
struct Sharing {
  int threads = 1;        // at most
  Index parts = 1;        // number of parts, each run by one thread
  bool wakes = false;     // wake sleeping threads, too
  bool together = false;  // waits for all of them to begin, for tests
};
// Each thread needs `grain` of `count` items, 1 or more, or a 64th if it is awake. Parts have about
// `part` items, but there is at least one for each thread. Where threads are woken there are four:
// of one each, a thread that wakes late would find none left, and sleep before the next loop.
Sharing share_if_worthwhile(Index count, Index grain, Index part);
Sharing share_always(Index count);

// How many threads would share a large loop: 1 while loops are not shared.
int threads_at_hand();

// Calls run(body, part) for each part. Returns when all have ended, and rethrows an exception of
// one. Where `size` is not 0, `body` is that many bytes, which are copied beside the loop: a thread
// on another core gets them with the loop, and not one after another from the owner's stack.
struct Parts {
  static constexpr Index most_bytes = 512;

  void (*run)(const void* body, Index part);
  const void* body;
  Index size = 0;  // at most most_bytes
};
void share(const Sharing& sharing, const Parts& parts);

// Set by tests: no other thread begins before the owner has done everything.
inline std::atomic<bool> others_come_late{false};

}  // namespace tapestry::kernels
