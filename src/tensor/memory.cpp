#include "tapestry/memory.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/memory_account.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

// Absent unless the program is linked with AddressSanitizer, also where the library is not.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}

namespace tapestry {

struct MemoryAccount::State {
  std::size_t limit, live = 0, peak = 0;
};

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  std::mutex mutex;
  std::map<std::size_t, FreeBlock*>
      free;  // by capacity: the free blocks, linked through themselves
  MemoryStats stats{};
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
  const std::size_t step = std::max(alignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// Tells AddressSanitizer which part of a pooled block may be accessed.
void allow_only(void* block, std::size_t bytes, std::size_t capacity) {
  if (!__asan_poison_memory_region) return;
  __asan_poison_memory_region(block, capacity);
  __asan_unpoison_memory_region(block, bytes);
}

std::align_val_t alignment_of(std::size_t capacity) {
  return std::align_val_t{capacity < huge_page ? alignment : huge_page};
}

// Large blocks request huge pages: kernels that read megabytes would otherwise wait for page tables
// (attention over 256 heads: 7 % faster). Not for an end that fills less than half of one: that
// would take up to an eighth more memory than the numbers need. No effect on a system without them.
void* fresh_block([[maybe_unused]] std::size_t bytes, std::size_t capacity) {
  void* block = ::operator new(capacity, alignment_of(capacity), std::nothrow);
#ifdef __linux__
  if (block == nullptr || capacity < huge_page) return block;
  const std::size_t huge = std::min(capacity, (bytes + huge_page / 2) / huge_page * huge_page);
  madvise(block, huge, MADV_HUGEPAGE);
  madvise(static_cast<std::byte*>(block) + huge, capacity - huge, MADV_NOHUGEPAGE);
#endif
  return block;
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

// A block of `capacity` bytes, of which `bytes` are needed.
void* take(Pool& from, std::size_t bytes, std::size_t capacity) {
  FreeBlock*& first = from.free[capacity];
  if (first != nullptr) {
    from.stats.pooled_bytes -= capacity;
    return std::exchange(first, first->next);
  }
  ++from.stats.num_allocs;
  return fresh_block(bytes, capacity);
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
  void* memory = nullptr;
  std::size_t capacity = 0;
  if (bytes <= std::numeric_limits<std::size_t>::max() / 4) {
    capacity = round_up(bytes + header_bytes);
    const std::lock_guard lock(pool().mutex);
    check_limit(bytes, capacity);
    memory = take(pool(), bytes + header_bytes, capacity);
    if (memory != nullptr) {
      MemoryStats& stats = pool().stats;
      stats.live_bytes += capacity;
      stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
      open_entry(pool(), memory, capacity);
    }
  }
  if (memory == nullptr) {
    throw Error("out of memory: " + std::to_string(bytes) +
                " bytes for one tensor; in use: " + std::to_string(memory_stats().live_bytes) +
                " bytes. Use a smaller batch, shorter sequences or a smaller model.");
  }
  allow_only(memory, bytes + header_bytes, capacity);
  block_ = new (memory) Block{1, bytes, capacity, false, nullptr};
}

void Buffer::free() noexcept {
  const std::size_t capacity = block_->capacity;
  const std::lock_guard lock(pool().mutex);
  close_entry(pool(), block_, capacity);
  FreeBlock*& first = pool().free.find(capacity)->second;
  first = new (block_) FreeBlock{first};
  allow_only(block_, sizeof(FreeBlock), capacity);
  pool().stats.live_bytes -= capacity;
  pool().stats.pooled_bytes += capacity;
}

MemoryStats memory_stats() {
  const std::lock_guard lock(pool().mutex);
  return pool().stats;
}

void reset_peak_memory() {
  const std::lock_guard lock(pool().mutex);
  pool().stats.peak_bytes = pool().stats.live_bytes;
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
  for (auto& [capacity, first] : pool().free) {
    while (first != nullptr) {
      ::operator delete(std::exchange(first, first->next), alignment_of(capacity));
      pool().stats.pooled_bytes -= capacity;
    }
  }
}

}  // namespace tapestry
