// Buffers: aligned, shared, pooled and counted.
#include "tapestry/memory.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("a buffer of any size is aligned to 64 bytes and writable", "[phase0][memory]") {
  for (const std::size_t bytes : {0, 1, 3, 63, 64, 65, 511, 512, 513, 4095, 100'003}) {
    CAPTURE(bytes);
    const Buffer buffer(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.bytes() == bytes);
    CHECK(static_cast<bool>(buffer));
    std::memset(buffer.data(), 0xAB, bytes);
  }
}

TEST_CASE("copies of a buffer share it; the last one frees it", "[phase0][memory]") {
  const std::size_t before = memory_stats().live_bytes;
  Buffer first(1000);
  CHECK(memory_stats().live_bytes >= before + 1000);
  {
    const Buffer second = first;
    CHECK(second == first);
    CHECK(second.data() == first.data());
    CHECK(first.owners() == 2);
  }
  CHECK(first.owners() == 1);
  Buffer moved = std::move(first);
  CHECK(!first);  // NOLINT: what was moved from holds nothing
  CHECK(moved.owners() == 1);
  const Buffer& same = moved;
  moved = same;
  CHECK(moved.owners() == 1);
  moved = Buffer();
  CHECK(moved.bytes() == 0);
  CHECK(moved.owners() == 0);
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("a freed buffer is handed out again, without asking the system", "[phase0][memory]") {
  const void* first = Buffer(77'777).id();
  const MemoryStats before = memory_stats();
  const Buffer again(77'777);
  CHECK(again.id() == first);
  const MemoryStats after = memory_stats();
  CHECK(after.num_allocs == before.num_allocs);
  CHECK(after.pooled_bytes < before.pooled_bytes);
  CHECK(after.pooled_bytes + after.live_bytes == before.pooled_bytes + before.live_bytes);
}

TEST_CASE("close sizes share a block, and at most an eighth is wasted", "[phase0][memory]") {
  const auto taken = [](std::size_t bytes) {
    const std::size_t before = memory_stats().live_bytes;
    const Buffer buffer(bytes);
    return memory_stats().live_bytes - before;
  };
  // With 64 more, in one of eight steps between powers of two
  CHECK(taken(0) == 64);
  CHECK(taken(960) == 1024);
  CHECK(taken(961) == 1024 + 128);
  CHECK(taken(1'000) == 1024 + 128);
  CHECK(taken(10'000) == 8192 + 2 * 1024);
  CHECK(taken(123'456) == 131'072);
  CHECK(taken(1'000'000) == 1'048'576);
}

TEST_CASE("the peak is the most that was in use at once", "[phase0][memory]") {
  reset_peak_memory();
  const std::size_t start = memory_stats().peak_bytes;
  CHECK(start == memory_stats().live_bytes);
  {
    const Buffer one(50'000), two(60'000);
  }
  {
    const Buffer three(70'000);
  }
  CHECK(memory_stats().peak_bytes >= start + 110'000);
  CHECK(memory_stats().peak_bytes < start + 140'000);
  reset_peak_memory();
  CHECK(memory_stats().peak_bytes == start);
}

TEST_CASE("pooled memory can be given back to the system", "[phase0][memory]") {
  constexpr std::size_t large = 3'333'333;
  {
    const Buffer buffer(large);
  }
  const std::size_t pooled = memory_stats().pooled_bytes;
  CHECK(pooled >= large);
  const Buffer kept(100);
  std::memset(kept.data(), 7, 100);
  release_pooled_memory();
  CHECK(memory_stats().pooled_bytes <= pooled - large);
  CHECK(static_cast<const unsigned char*>(kept.data())[99] == 7);
  const std::size_t fresh = memory_stats().num_allocs;
  const Buffer buffer(large);
  CHECK(memory_stats().num_allocs == fresh + 1);
}

TEST_CASE("the peak of a piece of work is what it has in use at once", "[phase0][memory]") {
  const Buffer held(50'000);
  {
    const Buffer earlier(1'000'000);
  }
  CHECK(peak_memory_of([] {}) == 0);
  const std::size_t peak = peak_memory_of([] {
    {
      const Buffer first(100'000);
    }
    const Buffer second(80'000), third(30'000);
  });
  CHECK(peak >= 110'000);
  CHECK(peak < 140'000);
}

TEST_CASE("a buffer that no machine can hold says what to do", "[phase0][memory]") {
  const std::size_t before = memory_stats().live_bytes;
  const auto too_much = [] { Buffer(std::numeric_limits<std::size_t>::max() - 5); };
  CHECK(complaint(too_much, {"out of memory", "18446744073709551610 bytes", "smaller batch"}) ==
        "");
  CHECK(memory_stats().live_bytes == before);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("when the system refuses, nothing is counted as in use", "[phase0][memory]") {
  const std::size_t before = memory_stats().live_bytes;
  CHECK(complaint([] { Buffer(std::size_t{1} << 60); }, {"out of memory", "in use: "}) == "");
  CHECK(memory_stats().live_bytes == before);
}
#endif

TEST_CASE("threads take and give back buffers at the same time", "[phase0][memory]") {
  const std::size_t before = memory_stats().live_bytes;
  const Buffer shared(640);
  std::vector<std::thread> threads;
  std::vector<int> intact(4, 1);
  for (std::size_t t = 0; t < intact.size(); ++t) {
    threads.emplace_back([&intact, &shared, t] {
      for (std::size_t i = 0; i < 500; ++i) {
        const Buffer copy = shared;
        const Buffer mine(64 + i % 7 * 100);
        std::memset(mine.data(), static_cast<int>(t), mine.bytes());
        const auto* bytes = static_cast<const unsigned char*>(mine.data());
        for (std::size_t b = 0; b < mine.bytes(); ++b) intact[t] &= bytes[b] == t;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(intact == std::vector<int>(4, 1));
  CHECK(shared.owners() == 1);
  CHECK(memory_stats().live_bytes == before + 640 + 64);
}
