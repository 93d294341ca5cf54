// Splitting a loop among threads.
#pragma once

#include <type_traits>

#include "kernels/pool.hpp"
#include "tapestry/real.hpp"

namespace tapestry::kernels {

// The count of numbers (some 40 microseconds of work) that justifies waking a thread. A thread that
// is awake takes part from a 64th of that: it spins for a while before it sleeps.
inline constexpr Index parallel_grain = 1 << 18;

// Set by tests: even the smallest work is divided, so that small arrays behave like large ones, and
// each thread does its own share of it.
inline bool divide_everything = false;

// Calls body(begin, end) on consecutive parts of [0, count), of about `part` each. A small body is
// copied for the other threads: one that holds its numbers and pointers ([=]) reaches them sooner
// than one that refers to its caller's ([&]).
template <class Body>
void parallel_ranges(Index count, Index grain, Index part, const Body& body) {
  if (count <= 0) return;
  const Sharing sharing =
      divide_everything ? share_always(count) : share_if_worthwhile(count, grain, part);
  if (sharing.threads <= 1) {
    body(Index(0), count);
    return;
  }
  const auto run = [body, count, parts = sharing.parts](Index i) {
    body(count * i / parts, count * (i + 1) / parts);
  };
  static_assert(std::is_trivially_copyable_v<Body>);
  share(sharing, {[](const void* f, Index i) { (*static_cast<const decltype(run)*>(f))(i); }, &run,
                  sizeof run <= Parts::most_bytes ? Index(sizeof run) : 0});
}

// Calls body(begin, end) on consecutive parts of [0, count); all of it in one call where less than
// two threads are worth it: each needs `grain` of them, or a 64th if it is awake. The results of
// `body` must not depend on the ends of parts. Parts are long, for kernels write large arrays past
// the caches.
template <class Body>
void parallel_parts(Index count, Index grain, Body body) {
  parallel_ranges(count, grain, 4 * grain, body);
}

// Calls body(i) for each i in [0, count), where tasks may differ in length: divided more finely, so
// that threads end together. Each task writes its own memory.
template <class Body>
void parallel_tasks(Index count, Index grain, Body body) {
  parallel_ranges(count, grain, grain / 4, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i);
  });
}

// The grain for loops over rows of `width` numbers.
inline Index row_grain(Index width) {
  return width > 0 && width < parallel_grain ? parallel_grain / width : 1;
}

}  // namespace tapestry::kernels
