// The memory of one thread's tensors: what a rank needs, on a thread or as a process.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

namespace tapestry {

// While it exists, counts the bytes of all tensors and other buffers that this thread makes, until
// they are freed, by whichever thread. The bytes are those of MemoryStats: with what rounding up
// to reusable blocks adds.
//
//   MemoryAccount account(std::size_t{1} << 30);  // one more byte throws
//   ...
//   account.peak_bytes();
class MemoryAccount {
 public:
  // Making a buffer that would take the bytes in use above `limit` throws Error. Throws Error if
  // this thread has an account already.
  explicit MemoryAccount(std::size_t limit = std::numeric_limits<std::size_t>::max());
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  [[nodiscard]] std::size_t live_bytes() const;  // in use now
  [[nodiscard]] std::size_t peak_bytes() const;  // most in use at once so far

  struct State;

 private:
  std::shared_ptr<State> state_;  // shared with the buffers that outlive it
};

}  // namespace tapestry
