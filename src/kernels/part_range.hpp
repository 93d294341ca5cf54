// The share of one thread in a loop that threads share.
#pragma once

#include <atomic>
#include <cstdint>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

// One thread's share of the parts: those in [first, last) that no thread has begun. Its owner takes
// them from the front, others steal from the back, so that each thread mostly accesses the same
// memory as in the loop before.
class PartRange {
 public:
  void set(Index first, Index last) { range_.store(pack(first, last), std::memory_order_relaxed); }

  Index take_first() {
    return take([](std::uint64_t& r) { return ((r += one) - one) >> half; });
  }
  Index take_last() {
    return take([](std::uint64_t& r) { return --r & (one - 1); });
  }

 private:
  static constexpr int half = 32;
  static constexpr std::uint64_t one = std::uint64_t(1) << half;

  template <class Step>
  Index take(Step step) {  // -1: nothing is left
    std::uint64_t r = range_.load(std::memory_order_relaxed);
    while (r >> half < (r & (one - 1))) {
      std::uint64_t next = r;
      const std::uint64_t part = step(next);
      if (range_.compare_exchange_weak(r, next, std::memory_order_relaxed)) return Index(part);
    }
    return -1;
  }
  static std::uint64_t pack(Index first, Index last) {
    return std::uint64_t(first) << half | std::uint64_t(last);
  }
  std::atomic<std::uint64_t> range_{0};
};

}  // namespace tapestry::kernels
