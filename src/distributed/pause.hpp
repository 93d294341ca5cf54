// How a rank waits between two looks: it spins first, for a message is often there within
// microseconds, then lets others have the processor, and sleeps when it takes long.
#pragma once

#include <sched.h>
#include <time.h>

namespace tapestry {

class Pause {
 public:
  static constexpr int spins = 200, yields = 2000;

  // Whether it is time to look at the clock, which costs as much as a look for messages.
  bool is_long() const { return looks_ > spins; }

  void operator()() {
    if (++looks_ <= spins) return;
    if (looks_ <= yields) {
      ::sched_yield();
      return;
    }
    // Each look takes the processor from another thread for a moment.
    const timespec nap{0, looks_ < 2 * yields ? 20'000 : looks_ < 3 * yields ? 500'000 : 2'000'000};
    ::nanosleep(&nap, nullptr);
  }

 private:
  int looks_ = 0;
};

}  // namespace tapestry
