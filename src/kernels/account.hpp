// Decides whether sharing loops pays, from the time that it saves and loses, and from how often
// they come. All times are in nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

class Account {
 public:
  static constexpr Index grace = 50'000;  // tolerated wait for others to end

  // For one loop: the work that others did for its caller, and how long it then waited for their
  // last parts, each of which should take at most `part`. When losses exceed savings, loops are not
  // shared for twenty times the excess: so that at most a twentieth of the time is lost.
  void add(Index now, Index saved, Index waited, Index part) {
    saved_ = std::min(saved_ + saved, most_saved) - std::max(waited - part - grace, Index{0});
    if (saved_ >= 0) return;
    alone_until_ = now + std::min(-20 * saved_, longest_alone);
    saved_ = 0;
  }

  bool alone(Index now) const { return now < alone_until_.load(std::memory_order_relaxed); }

 private:
  static constexpr Index most_saved = 50'000'000;  // a cap, so that old savings do not count
  static constexpr Index longest_alone = 2'000'000'000;

  Index saved_ = 0;
  std::atomic<Index> alone_until_{0};
};

// Loops too small to wake a thread for each of them. Where they come less than spin_time apart on
// average, a woken thread stays awake, and serves them all.
class SmallLoops {
 public:
  static constexpr Index spin_time = 50'000;  // without work, before a thread sleeps

  // Whether the loop that comes now is one of such a stream: one takes time to begin, and to end.
  bool are_a_stream(Index now) {
    // Not below 0: two threads may come here in another order than they read the clock.
    const Index apart = std::max<Index>(now - last_.exchange(now, std::memory_order_relaxed), 0);
    const Index saved = saved_.load(std::memory_order_relaxed) + spin_time - apart;
    saved_.store(std::clamp<Index>(saved, 0, 2 * enough), std::memory_order_relaxed);
    return saved >= enough;
  }

 private:
  static constexpr Index enough = 15 * spin_time;

  std::atomic<Index> last_{0}, saved_{0};  // saved: by how much less they were apart
};

}  // namespace tapestry::kernels
