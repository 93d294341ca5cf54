// The threads of this process, and how one loop is shared among them. Kernels use parallel.hpp.
//
// Who shares a loop works, too, and waits for nobody who has not begun: what others have left when
// it is done with its own share, it does itself, so that a thread that comes late, or never, delays
// nobody. Only a thread that is stopped amid a part does: on a busy machine. When more time was
// lost in that way than sharing has saved, loops are not shared for twenty times as long.
//
// One loop is shared at a time. A second thread that asks, and a loop within a part, go alone. The
// child of a fork() makes threads of its own; fork not from within a part.
#pragma once

#include <atomic>
#include <string_view>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

inline constexpr int most_threads = 255;

// How many threads share the loops of the thread that asks: what it set, or OMP_NUM_THREADS (its
// first number; anything else is passed over), or as many processors as this process may use.
int thread_count();
int count_at_the_start(const char* wish);  // without one that was set; the wish may be null
int first_number(std::string_view text);   // of such a list; 0 where it is none
// Processors' worth of time that a container was given, as such a file says; most_threads without
// a limit.
double quota(const char* path);
void set_thread_count(int count);  // 1 or more; above most_threads is most_threads

// How a loop is to be divided.
struct Sharing {
  int threads = 1;        // at most so many
  Index parts = 1;        // into so many parts, each run by one thread
  bool wakes = false;     // threads that sleep, too
  bool together = false;  // waits for all of them to begin, as tests want it
};
// Each thread wants `grain` of `count` things, or a quarter if it is awake. Parts of about `part`
// things, but one a thread at least.
Sharing share_if_worthwhile(Index count, Index grain, Index part);
Sharing share_always(Index count);

// How many threads would share a loop that is worth it: 1 where loops are not shared just now.
int threads_at_hand();

// Calls run(body, part) for each part. Returns when all have ended; what one has thrown is then
// thrown here.
struct Parts {
  void (*run)(const void* body, Index part);
  const void* body;
};
void share(const Sharing& sharing, const Parts& parts);

// Set by tests: no other thread begins before the one that shares has done everything.
inline std::atomic<bool> others_come_late{false};

}  // namespace tapestry::kernels
