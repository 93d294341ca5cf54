// The scratch memory of kernels: aligned, kept, of each thread its own.
#include <malloc.h>

#include <thread>

#include "kernels/kernel_test.hpp"
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
    CHECK(workspace(n) == memory);
    CHECK(workspace(n)[n / 2] == 5);  // a larger one would have other, empty pages
  }).join();
}

#if defined(__GLIBC__)
TEST_CASE("a workspace has room for what was asked, and grows by doubling", "[phase0][kernels]") {
  std::thread([] {
    const auto room = [](Index n) {
      return Index(malloc_usable_size(workspace(n)) / sizeof(real));
    };
    constexpr Index n = 1 << 18;
    CHECK(room(1) >= 1);
    CHECK(room(n - 1) >= n - 1);
    CHECK(room(n + n / 2) >= 2 * (n - 1));
    CHECK(room(8 * n) >= 8 * n);
    CHECK(room(8 * n) < 9 * n);
    CHECK(room(3) >= 8 * n);
  }).join();
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a workspace that no machine can hold says so, and the next one works",
          "[phase0][kernels]") {
  CHECK(complaint([] { workspace(Index(1) << 56); }, {"out of memory", "bytes", "scratch"}) == "");
  real* const memory = workspace(100);
  memory[99] = 1;
  CHECK(memory[99] == 1);
}
#endif

}  // namespace tapestry::kernels
