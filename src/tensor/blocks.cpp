#include "tensor/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

// Null unless the program is linked with AddressSanitizer, which it may be even where this library
// was compiled without.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}

namespace tapestry {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t slab_bytes = 16 * huge_page;

// Tells AddressSanitizer which part of a block may be accessed.
void allow_only(void* block, std::size_t bytes, std::size_t capacity) {
  if (!__asan_poison_memory_region) return;
  __asan_poison_memory_region(block, capacity);
  __asan_unpoison_memory_region(block, bytes);
}

std::align_val_t alignment_of(std::size_t capacity) {
  return std::align_val_t{capacity < huge_page ? Blocks::alignment : huge_page};
}

#ifdef __linux__

// Leaves out an end that fills less than half of a huge page: that would take up to an eighth more
// memory than the numbers need. No effect on a system without them.
void request_huge_pages(void* memory, std::size_t bytes, std::size_t capacity) {
  const std::size_t huge = std::min(capacity, (bytes + huge_page / 2) / huge_page * huge_page);
  madvise(memory, huge, MADV_HUGEPAGE);
  madvise(static_cast<std::byte*>(memory) + huge, capacity - huge, MADV_NOHUGEPAGE);
}

// A slab's memory, aligned to huge pages; null if there is none. Null under AddressSanitizer, too:
// it finds more errors if each block is an allocation of its own.
std::byte* map_slab() {
  if (__asan_poison_memory_region) return nullptr;
  constexpr std::size_t room = slab_bytes + huge_page;
  void* const mapped =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) % huge_page;
  auto* const begin = static_cast<std::byte*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  munmap(begin + slab_bytes, huge_page - before);
  request_huge_pages(begin, slab_bytes, slab_bytes);
  return begin;
}

void unmap_slab(std::byte* begin) { munmap(begin, slab_bytes); }

#else

void request_huge_pages(void*, std::size_t, std::size_t) {}
std::byte* map_slab() { return nullptr; }
void unmap_slab(std::byte*) {}

#endif

}  // namespace

void* Blocks::take(std::size_t bytes, std::size_t capacity) {
  Free*& first = free_[capacity];
  void* block = first;
  if (first != nullptr) {
    first = first->next;
    kept_ -= capacity;
  } else {
    block = make(bytes, capacity);
    if (block == nullptr) return nullptr;
    ++made_;
  }
  allow_only(block, bytes, capacity);
  return block;
}

void Blocks::put_back(void* block, std::size_t capacity) {
  Free*& first = free_.find(capacity)->second;
  allow_only(block, sizeof(Free), capacity);
  first = new (block) Free{first};
  kept_ += capacity;
}

// Kernels that read megabytes in small pages would wait for page tables: attention over 256 heads
// was 7 % slower. A training step of a GPT of width 384, most of whose arrays have 0.6 MB, took 1.1
// to 1.2 times as long where these did not share huge pages (one thread, Zen 5, a hypervisor).
void* Blocks::make(std::size_t bytes, std::size_t capacity) {
  if (capacity < huge_page) {
    if (void* const block = make_in_slab(capacity)) return block;
  }
  void* const block = ::operator new(capacity, alignment_of(capacity), std::nothrow);
  if (block != nullptr && capacity >= huge_page) request_huge_pages(block, bytes, capacity);
  return block;
}

// Huge pages of a slab that were never written to take no memory.
void* Blocks::make_in_slab(std::size_t capacity) {
  if (slabs_.empty() || capacity > std::size_t(slabs_.back().end - slabs_.back().next)) {
    slabs_.reserve(slabs_.size() + 1);  // first, since it may throw
    std::byte* const begin = map_slab();
    if (begin == nullptr) return nullptr;
    slabs_.push_back({begin, begin, begin + slab_bytes});
  }
  return std::exchange(slabs_.back().next, slabs_.back().next + capacity);
}

Blocks::Slab* Blocks::slab_of(const void* block) {
  const auto slab = std::ranges::find_if(
      slabs_, [=](const Slab& s) { return s.begin <= block && block < s.end; });
  return slab == slabs_.end() ? nullptr : &*slab;
}

void Blocks::count_free_bytes() {
  for (Slab& slab : slabs_) slab.free_bytes = 0;
  for (const auto& [capacity, first] : free_) {
    for (const Free* block = first; block != nullptr; block = block->next) {
      if (Slab* const slab = slab_of(block)) slab->free_bytes += capacity;
    }
  }
}

void Blocks::release() {
  count_free_bytes();
  for (auto& [capacity, first] : free_) {
    Free* next = std::exchange(first, nullptr);
    while (next != nullptr) {
      Free* const block = std::exchange(next, next->next);
      const Slab* const slab = slab_of(block);
      if (slab != nullptr && !slab->is_idle()) {
        block->next = std::exchange(first, block);
        continue;
      }
      if (slab == nullptr) ::operator delete(block, alignment_of(capacity));
      kept_ -= capacity;
    }
  }
  for (const Slab& slab : slabs_) {
    if (slab.is_idle()) unmap_slab(slab.begin);
  }
  std::erase_if(slabs_, [](const Slab& slab) { return slab.is_idle(); });
}

}  // namespace tapestry
