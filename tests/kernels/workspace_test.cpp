// The scratch memory of kernels: aligned, kept, of each thread its own.
#include <malloc.h>

#include <thread>

#include "check_in_thread.hpp"
#include "kernels/kernel_test.hpp"
#include "memory_limit.hpp"
#include "ops/expect.hpp"

namespace tapestry::kernels {

TEST_CASE("the workspace is aligned, writable and kept", "[phase0][kernels]") {
  for (const Index n : {1, 15, 1000, 100'003}) {
    real* const memory = workspace(n);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::fill(memory, memory + n, real(1));
    CHECK(workspace(n) == memory);
    CHECK(workspace(0) == memory);
  }
  real* other = nullptr;
  std::thread([&] { other = workspace(10), other[9] = 0; }).join();
  CHECK(other != workspace(10));
}

TEST_CASE("a workspace as large as all there is, is not made anew", "[phase0][kernels]") {
  std::thread([] {
    constexpr Index n = 1 << 20;
    real* const memory = workspace(n);
    memory[n / 2] = 5;
    CHECK_IN_THREAD(workspace(n) == memory);
    CHECK_IN_THREAD(workspace(n)[n / 2] == 5);  // a larger one would have other, empty pages
  }).join();
}

#if defined(__GLIBC__)
TEST_CASE("a workspace has room for what was asked, and grows by doubling", "[phase0][kernels]") {
  std::thread([] {
    const auto room = [](Index n) {
      return Index(malloc_usable_size(workspace(n)) / sizeof(real));
    };
    constexpr Index n = 1 << 18;
    CHECK_IN_THREAD(room(1) >= 1);
    CHECK_IN_THREAD(room(n - 1) >= n - 1);
    CHECK_IN_THREAD(room(n + n / 2) >= 2 * (n - 1));
    CHECK_IN_THREAD(room(n + n / 2) < 2 * n + n / 2);
    CHECK_IN_THREAD(room(8 * n) >= 8 * n);
    CHECK_IN_THREAD(room(8 * n) < 9 * n);
    CHECK_IN_THREAD(room(3) >= 8 * n);
  }).join();
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a workspace that no machine can hold says so, and the next one works",
          "[phase0][kernels]") {
  workspace(200)[199] = 1;
  const std::string bytes = std::to_string((std::size_t(1) << 56) * sizeof(real));
  CHECK(complaint([] { workspace(Index(1) << 56); },
                  {("out of memory: " + bytes + " bytes of scratch").c_str()}) == "");
  for (const Index n : {1, 100}) {
    real* const memory = workspace(n);
    REQUIRE(memory != nullptr);
    memory[n - 1] = 1;
    CHECK(memory[n - 1] == 1);
  }
}

TEST_CASE("a workspace is freed before a larger one is made, and when its thread ends",
          "[phase0][kernels]") {
  // Bytes: another thread may meanwhile map 128 MiB for its first allocation.
  constexpr Index large = Index(320) << 20;
  const auto grow = [] {
    workspace(large / Index(sizeof(real)));
    const MemoryLimit limit(2 * large);
    workspace(5 * large / 2 / Index(sizeof(real)));
  };
  for (int i = 0; i < 2; ++i) {
    std::string said = "no";
    std::thread([&] { said = complaint([&] { grow(); }, {}); }).join();
    CHECK(said == "nothing was thrown");
  }
#if defined(__GLIBC__)
  const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = in_use();
  std::size_t inside = 0;
  std::thread([&] {
    workspace(large / Index(sizeof(real)));
    inside = in_use();
  }).join();
  CHECK(inside >= before + std::size_t(large));
  CHECK(in_use() < before + std::size_t(large) / 2);
#endif
}
#endif

}  // namespace tapestry::kernels
