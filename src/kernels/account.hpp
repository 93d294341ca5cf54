// Whether it pays to share loops: an account of what it saves and what it loses. All times are in
// nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

class Account {
 public:
  static constexpr Index grace = 50'000;  // nothing is lost yet when others end so much later

  // Of one loop: what others took off its caller, and how long it then waited for their last parts,
  // none of which should have taken more than `part`. When all that was saved is lost, loops are
  // not shared for twenty times what was lost beyond: so that at most a twentieth is lost for good.
  void add(Index now, Index saved, Index waited, Index part) {
    saved_ = std::min(saved_ + saved, most_saved) - std::max(waited - part - grace, Index{0});
    if (saved_ >= 0) return;
    alone_until_ = now + std::min(-20 * saved_, longest_alone);
    saved_ = 0;
  }

  bool alone(Index now) const { return now < alone_until_.load(std::memory_order_relaxed); }

 private:
  static constexpr Index most_saved = 50'000'000;  // what was longer ago is forgotten
  static constexpr Index longest_alone = 2'000'000'000;

  Index saved_ = 0;
  std::atomic<Index> alone_until_{0};
};

}  // namespace tapestry::kernels
