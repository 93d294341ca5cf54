// CHECK for threads other than the main one. Catch2 counts without a lock: two threads that assert
// at once may end the program anywhere, and seldom do. Here one asserts at a time, while the main
// thread waits for all; main.cpp ends the program at an assertion that does not do so.
#pragma once

#include <mutex>

#include "catch.hpp"

namespace tapestry {

class AssertsAlone {
 public:
  AssertsAlone() { here = true; }
  ~AssertsAlone() { here = false; }
  AssertsAlone(const AssertsAlone&) = delete;
  AssertsAlone& operator=(const AssertsAlone&) = delete;
  static inline thread_local bool here = false;

 private:
  static inline std::mutex all_;
  std::lock_guard<std::mutex> lock_{all_};
};

}  // namespace tapestry

// What is checked must not wait for another thread: that one may wait for the lock.
#define CHECK_IN_THREAD(...)             \
  do {                                   \
    const tapestry::AssertsAlone alone_; \
    CHECK(__VA_ARGS__);                  \
  } while (false)
