// Blocks of memory: where they lie, what is reused, and what returns to the system.
#include "tensor/blocks.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "memory_limit.hpp"
#include "sanitizers.hpp"
#include "tapestry/memory.hpp"

namespace tapestry {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

struct Taken {
  std::vector<void*> blocks;
  std::size_t capacity;
};

// Some blocks, each filled with a number of its own.
Taken take(Blocks& from, std::size_t count, std::size_t capacity) {
  Taken taken{{}, capacity};
  for (std::size_t i = 0; i < count; ++i) {
    taken.blocks.push_back(from.take(capacity, capacity));
    std::memset(taken.blocks.back(), int(i % 251), capacity);
  }
  return taken;
}

bool are_intact(const Taken& taken) {
  for (std::size_t i = 0; i < taken.blocks.size(); ++i) {
    const auto* const bytes = static_cast<const unsigned char*>(taken.blocks[i]);
    for (std::size_t b = 0; b < taken.capacity; ++b) {
      if (bytes[b] != i % 251) return false;
    }
  }
  return true;
}

void put_back(Blocks& to, const Taken& taken) {
  for (void* const block : taken.blocks) to.put_back(block, taken.capacity);
}

}  // namespace

TEST_CASE("what was put back is taken again, the last one first", "[phase0][memory]") {
  for (const std::size_t capacity : {64 * 3, 1 << 20, 3 << 20}) {
    CAPTURE(capacity);
    Blocks blocks;
    const Taken first = take(blocks, 3, capacity);
    CHECK(blocks.num_made() == 3);
    CHECK(blocks.kept_bytes() == 0);
    put_back(blocks, first);
    CHECK(blocks.kept_bytes() == 3 * capacity);
    Taken again = take(blocks, 3, capacity);
    CHECK(blocks.num_made() == 3);
    CHECK(blocks.kept_bytes() == 0);
    CHECK(again.blocks == std::vector(first.blocks.rbegin(), first.blocks.rend()));
    CHECK(are_intact(again));
    void* const other = blocks.take(1, capacity + 64);
    CHECK(blocks.num_made() == 4);
    blocks.put_back(other, capacity + 64);
    put_back(blocks, again);
    blocks.release();
    CHECK(blocks.kept_bytes() == 0);
    put_back(blocks, take(blocks, 1, capacity));
    CHECK(blocks.num_made() == 5);
    blocks.release();
  }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
namespace {

// What the system was told about an address: "hg", to use huge pages there, or "nh", not to.
std::string advice_at(const void* block, std::size_t at = 0) {
  const auto address = reinterpret_cast<std::uintptr_t>(block) + at;
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long begin, end;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= address && address < end;
    }
    if (!here || !line.starts_with("VmFlags:")) continue;
    if (line.find(" hg") != line.npos) return "hg";
    return line.find(" nh") != line.npos ? "nh" : "none";
  }
  return "no memory";
}

bool has_huge_pages() { return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"); }

}  // namespace

TEST_CASE("large blocks request huge pages, but not for an end that fills less than half of one",
          "[phase0][memory]") {
  if (!has_huge_pages()) {
    SUCCEED("this system has none");
    return;
  }
  const auto advice = [](std::size_t bytes, std::size_t at) {
    Blocks blocks;
    const std::size_t capacity = (bytes + mib / 4 - 1) / (mib / 4) * (mib / 4);
    void* const block = blocks.take(bytes, capacity);
    const std::string found = advice_at(block, at);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % (2 * mib) == 0);
    blocks.put_back(block, capacity);
    blocks.release();
    return found;
  };
  CHECK(advice(2 * mib, 0) == "hg");
  CHECK(advice(2 * mib, 2 * mib - 1) == "hg");
  CHECK(advice(3 * mib - 1, 2 * mib - 1) == "hg");
  CHECK(advice(3 * mib - 1, 2 * mib) == "nh");
  CHECK(advice(3 * mib - 1, 3 * mib - 1) == "nh");
  CHECK(advice(3 * mib, 2 * mib) == "hg");
  CHECK(advice(3 * mib, 3 * mib - 1) == "hg");
}

TEST_CASE("a buffer's block has room for its header, too", "[phase0][memory]") {
  if (!has_huge_pages()) {
    SUCCEED("this system has none");
    return;
  }
  release_pooled_memory();  // a block of this size for fewer numbers
  constexpr std::size_t header = 64;
  const Buffer buffer(3 * mib - header);
  CHECK(advice_at(buffer.id(), 3 * mib - 1) == "hg");
}

TEST_CASE("small blocks lie side by side, whatever their sizes, and share huge pages",
          "[phase0][memory]") {
  Blocks blocks;
  auto* const first = static_cast<std::byte*>(blocks.take(1, 64));
  CHECK(reinterpret_cast<std::uintptr_t>(first) % (2 * mib) == 0);
  CHECK(blocks.take(600'000, 640'000) == first + 64);
  CHECK(blocks.take(2 * mib - 64, 2 * mib - 64) == first + 64 + 640'000);
  CHECK(blocks.take(300, 320) == first + 640'000 + 2 * mib);
  if (has_huge_pages()) {
    CHECK(advice_at(first) == "hg");
    CHECK(advice_at(first, 32 * mib - 1) == "hg");
  }
  void* const large = blocks.take(2 * mib, 2 * mib);
  CHECK(large != first + 640'000 + 2 * mib + 320);
  blocks.put_back(large, 2 * mib);
  blocks.put_back(first, 64);
  blocks.put_back(first + 64, 640'000);
  blocks.put_back(first + 64 + 640'000, 2 * mib - 64);
  blocks.put_back(first + 640'000 + 2 * mib, 320);
  blocks.release();
  CHECK(advice_at(first) == "no memory");
}

TEST_CASE("a full slab is followed by another one", "[phase0][memory]") {
  Blocks blocks;
  const Taken half = take(blocks, 16, mib), other_half = take(blocks, 16, mib);
  const Taken more = take(blocks, 3, mib);
  auto* const begin = static_cast<std::byte*>(half.blocks[0]);
  CHECK(other_half.blocks[15] == begin + 31 * mib);
  auto* const next = static_cast<std::byte*>(more.blocks[0]);
  CHECK((next < begin || next >= begin + 32 * mib));
  CHECK(more.blocks[2] == next + 2 * mib);
  CHECK(are_intact(half));
  CHECK(are_intact(other_half));
  CHECK(are_intact(more));
  put_back(blocks, half);
  put_back(blocks, more);
  blocks.release();  // of the second one all was put back, of the first one half
  CHECK(blocks.kept_bytes() == 16 * mib);
  CHECK(advice_at(next) == "no memory");
  CHECK(are_intact(other_half));
  const Taken again = take(blocks, 17, mib);
  CHECK(blocks.num_made() == 35 + 1);
  CHECK(are_intact(again));
  CHECK(are_intact(other_half));
  put_back(blocks, again);
  put_back(blocks, other_half);
  CHECK(blocks.kept_bytes() == 33 * mib);
  blocks.release();
  CHECK(blocks.kept_bytes() == 0);
  CHECK(advice_at(begin) == "no memory");
}

TEST_CASE("large blocks return to the system, small ones beside one in use are kept",
          "[phase0][memory]") {
  Blocks blocks;
  void* const in_use = blocks.take(100, 128);
  std::memset(in_use, 7, 100);
  const Taken small = take(blocks, 5, 192), middle = take(blocks, 4, 40'000),
              large = take(blocks, 2, 3 * mib);
  put_back(blocks, large);
  put_back(blocks, small);
  put_back(blocks, middle);
  blocks.release();
  CHECK(blocks.kept_bytes() == 5 * 192 + 4 * 40'000);
  CHECK(static_cast<const char*>(in_use)[99] == 7);
  const std::vector<void*> again = take(blocks, 5, 192).blocks;
  CHECK(std::set(again.begin(), again.end()) == std::set(small.blocks.begin(), small.blocks.end()));
  for (void* const block : again) blocks.put_back(block, 192);
  blocks.put_back(in_use, 128);
  blocks.release();
  CHECK(blocks.kept_bytes() == 0);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a block that the system refuses is null, and not counted", "[phase0][memory]") {
  Blocks blocks;
  CHECK(blocks.take(1, std::size_t{1} << 61) == nullptr);
  CHECK(blocks.num_made() == 0);
  CHECK(blocks.kept_bytes() == 0);
}

TEST_CASE("where there is no room for a slab, a small block is on its own", "[phase0][memory]") {
  Blocks blocks;
  const MemoryLimit limit(16 * mib);
  const Taken taken = take(blocks, 2, 64 * 100);
  CHECK(blocks.num_made() == 2);
  CHECK(are_intact(taken));
  CHECK(taken.blocks[1] != static_cast<std::byte*>(taken.blocks[0]) + taken.capacity);
  put_back(blocks, taken);
  blocks.release();
  CHECK(blocks.kept_bytes() == 0);
}
#endif
#endif

}  // namespace tapestry
