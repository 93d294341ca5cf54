// Memory of tensors: shared, 64-byte aligned buffers from a pool.
//
// A training step allocates the same sizes again and again, so freed buffers are kept for reuse:
// from the second identical step on, no memory is requested from the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

#include "tapestry/real.hpp"

namespace tapestry {

class Saved;

struct MemoryStats {
  std::size_t live_bytes;    // in use now
  std::size_t peak_bytes;    // most in use at once since the start or reset_peak_memory()
  std::size_t pooled_bytes;  // freed, kept for reuse
  std::size_t num_allocs;    // blocks that were made so far, not reused
};

[[nodiscard]] MemoryStats memory_stats();
void reset_peak_memory();

// Runs `work`, and returns the peak of the bytes in use meanwhile, above those in use before.
[[nodiscard]] std::size_t peak_memory_of(const std::function<void()>& work);

// How many bytes this process could still take from the system: what is free there or easily made
// so, within the limits of its control group and its own (`ulimit -v`), where these can be known
// (Linux); else the largest number.
[[nodiscard]] std::size_t available_memory();

// Returns pooled memory to the system, except blocks below 2 MiB that lie beside one in use.
void release_pooled_memory();

// A handle on a block; copies share it, and the last one returns it to the pool.
class Buffer {
 public:
  Buffer() = default;  // holds nothing

  // `bytes` uninitialised bytes. Throws Error when the system has no more memory.
  explicit Buffer(std::size_t bytes);

  Buffer(const Buffer& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) free();
  }

  void* data() const { return reinterpret_cast<std::byte*>(block_) + header_bytes; }
  std::size_t bytes() const { return block_ == nullptr ? 0 : block_->bytes; }
  long owners() const { return block_ == nullptr ? 0 : block_->owners.load(); }

  bool operator==(const Buffer&) const = default;  // the same block

  // Identifies the block while it exists (for maps).
  const void* id() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }

  // Whether Tensor::data() gave out an address in it: its numbers may then change at any time.
  bool given_away() const { return block_->given_away.load(); }

 private:
  friend class Saved;
  static constexpr std::size_t header_bytes = 64;
  struct Block {
    std::atomic<long> owners;
    std::size_t bytes;     // as requested
    std::size_t capacity;  // as taken from the pool, header included
    std::atomic<bool> given_away = false;
    Saved* saved = nullptr;  // what tapes keep of it: a list
  };
  void free() noexcept;

  Block* block_ = nullptr;
};

}  // namespace tapestry
