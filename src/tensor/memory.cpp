#include "tapestry/memory.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "tapestry/error.hpp"
#include "tapestry/memory_account.hpp"
#include "tensor/blocks.hpp"

namespace tapestry {

struct MemoryAccount::State {
  std::size_t limit, live = 0, peak = 0;
};

namespace {

struct Pool {
  std::mutex mutex;
  Blocks blocks;
  std::size_t live_bytes = 0, peak_bytes = 0;
  std::unordered_map<const void*, std::shared_ptr<MemoryAccount::State>> accounts;  // by block
};

// Of this thread, if it has one. A pointer, since buffers are made after thread locals have ended.
thread_local const std::shared_ptr<MemoryAccount::State>* account = nullptr;

// Never destroyed: tensors with static lifetime may return their memory after main has ended.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

// Rounds up to one of eight steps per power of two: at most 12.5 % is wasted, and similar sizes
// share their blocks.
std::size_t round_up(std::size_t bytes) {
  const std::size_t step = std::max(Blocks::alignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// To be called with the pool locked, as the next one.
void open_entry(Pool& in, const void* block, std::size_t capacity) {
  if (account == nullptr) return;
  MemoryAccount::State& state = **account;
  in.accounts[block] = *account;
  state.live += capacity;
  state.peak = std::max(state.peak, state.live);
}

void close_entry(Pool& in, const void* block, std::size_t capacity) {
  if (in.accounts.empty()) return;
  const auto entry = in.accounts.find(block);
  if (entry == in.accounts.end()) return;
  entry->second->live -= capacity;
  in.accounts.erase(entry);
}

void check_limit(std::size_t bytes, std::size_t capacity) {
  if (account == nullptr || capacity <= (*account)->limit - (*account)->live) return;
  throw Error("out of memory: " + std::to_string(bytes) +
              " bytes for one tensor, but of the limit of " + std::to_string((*account)->limit) +
              " bytes that this thread was given, " + std::to_string((*account)->live) +
              " are in use. Use more ranks, a smaller batch or shorter sequences.");
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
  void* memory = nullptr;
  std::size_t capacity = 0;
  if (bytes <= std::numeric_limits<std::size_t>::max() / 4) {
    capacity = round_up(bytes + header_bytes);
    const std::lock_guard lock(pool().mutex);
    check_limit(bytes, capacity);
    memory = pool().blocks.take(bytes + header_bytes, capacity);
    if (memory != nullptr) {
      pool().live_bytes += capacity;
      pool().peak_bytes = std::max(pool().peak_bytes, pool().live_bytes);
      open_entry(pool(), memory, capacity);
    }
  }
  if (memory == nullptr) {
    throw Error("out of memory: " + std::to_string(bytes) +
                " bytes for one tensor; in use: " + std::to_string(memory_stats().live_bytes) +
                " bytes. Use a smaller batch, shorter sequences or a smaller model.");
  }
  block_ = new (memory) Block{1, bytes, capacity, false, nullptr};
}

void Buffer::free() noexcept {
  const std::size_t capacity = block_->capacity;
  const std::lock_guard lock(pool().mutex);
  close_entry(pool(), block_, capacity);
  pool().blocks.put_back(block_, capacity);
  pool().live_bytes -= capacity;
}

MemoryStats memory_stats() {
  const std::lock_guard lock(pool().mutex);
  const Pool& all = pool();
  return {all.live_bytes, all.peak_bytes, all.blocks.kept_bytes(), all.blocks.num_made()};
}

void reset_peak_memory() {
  const std::lock_guard lock(pool().mutex);
  pool().peak_bytes = pool().live_bytes;
}

std::size_t peak_memory_of(const std::function<void()>& work) {
  reset_peak_memory();
  const std::size_t before = memory_stats().live_bytes;
  work();
  return memory_stats().peak_bytes - before;
}

MemoryAccount::MemoryAccount(std::size_t limit) : state_(new State{limit}) {
  if (account != nullptr) {
    throw Error("MemoryAccount: this thread has one already: there is one at a time.");
  }
  account = &state_;
}

MemoryAccount::~MemoryAccount() { account = nullptr; }

std::size_t MemoryAccount::live_bytes() const {
  const std::lock_guard lock(pool().mutex);
  return state_->live;
}

std::size_t MemoryAccount::peak_bytes() const {
  const std::lock_guard lock(pool().mutex);
  return state_->peak;
}

void release_pooled_memory() {
  const std::lock_guard lock(pool().mutex);
  pool().blocks.release();
}

}  // namespace tapestry
