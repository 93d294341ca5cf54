// Blocks of memory from the system, kept for reuse once they are put back. One of 2 MiB or more is
// in huge pages of its own; on Linux smaller ones lie side by side in a slab, whose huge pages they
// share. The caller sees to it that one thread at a time is here.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace tapestry {

class Blocks {
 public:
  static constexpr std::size_t alignment = 64;  // of each block, in bytes

  Blocks() = default;  // what it has at its end stays taken: it is for a whole program
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // A block of `capacity` bytes, a multiple of the alignment. Only its first `bytes` may be
  // accessed, as AddressSanitizer is told. Null if the system has no more.
  void* take(std::size_t bytes, std::size_t capacity);

  void put_back(void* block, std::size_t capacity);  // the capacity that it was taken with

  // Returns what was put back to the system, except small blocks whose slab has others in use.
  void release();

  std::size_t kept_bytes() const { return kept_; }  // of the blocks put back
  std::size_t num_made() const { return made_; }    // since the start

 private:
  struct Free {
    Free* next;
  };
  struct Slab {
    std::byte *begin, *next, *end;  // the next block is made at `next`
    std::size_t free_bytes = 0;     // of blocks put back, as `release` counts them

    bool is_idle() const { return free_bytes == std::size_t(next - begin); }
  };

  void* make(std::size_t bytes, std::size_t capacity);
  void* make_in_slab(std::size_t capacity);
  Slab* slab_of(const void* block);  // null if the block is on its own
  void count_free_bytes();

  std::map<std::size_t, Free*> free_;  // by capacity: blocks put back, linked through themselves
  std::vector<Slab> slabs_;            // blocks are made in the last one
  std::size_t kept_ = 0, made_ = 0;
};

}  // namespace tapestry
