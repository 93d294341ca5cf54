// Splitting a loop among threads.
#pragma once

#include <omp.h>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

// Fewer numbers than this a thread (some 40 microseconds of work) are not worth waking it, and
// waiting for it where other programs keep the processors busy.
inline constexpr Index parallel_grain = 1 << 18;

// Set by tests: even the smallest work is divided, so that small arrays show what large ones would.
inline bool divide_everything = false;

// How many threads share `count` things of which `grain` are worth one.
inline Index sharing_threads(Index count, Index grain) {
  const Index most = omp_in_parallel() ? 1 : omp_get_max_threads();
  const Index wanted = divide_everything ? count : count / (grain > 0 ? grain : 1);
  return wanted < most ? wanted : most;
}

// Calls body(begin, end) on consecutive parts of [0, count), one per thread, each at least `grain`
// long; all of it in one call when that leaves one part. `body` must not throw, and what it
// computes must not depend on where the parts end.
template <class Body>
void parallel_parts(Index count, Index grain, Body body) {
  if (count <= 0) return;
  const Index parts = sharing_threads(count, grain);
  if (parts <= 1) {
    body(Index(0), count);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(int(parts))
  for (Index part = 0; part < parts; ++part) {
    body(count * part / parts, count * (part + 1) / parts);
  }
}

// Calls body(i) for each i in [0, count), where tasks may differ in length: threads, one for every
// `grain` tasks at most, take the next one when they are done. Each task writes what no other does.
template <class Body>
void parallel_tasks(Index count, Index grain, Body body) {
  const Index threads = sharing_threads(count, grain);
  if (threads <= 1) {
    for (Index i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(int(threads))
  for (Index i = 0; i < count; ++i) body(i);
}

// The grain for loops over rows of `width` numbers.
inline Index row_grain(Index width) {
  return width > 0 && width < parallel_grain ? parallel_grain / width : 1;
}

}  // namespace tapestry::kernels
