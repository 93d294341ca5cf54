// Decides whether sharing loops pays, from the time that it saves and loses. All times are in
// nanoseconds.
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

}  // namespace tapestry::kernels
