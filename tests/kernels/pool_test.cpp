// The threads that share loops: each part once, whoever asks and however late the others are.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "course/timing.hpp"
#include "kernels/parallel.hpp"
#include "kernels/pool_threads.hpp"
#include "ops/expect.hpp"
#include "sanitizers.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

// How often each of `count` things was done, told by those that were not done exactly once.
struct Tally {
  std::vector<std::atomic<int>> times;

  explicit Tally(Index count) : times(static_cast<std::size_t>(count)) {}
  void add(Index i) { times[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed); }
  Index wrong() const {
    return std::count_if(times.begin(), times.end(), [](const auto& n) { return n != 1; });
  }
};

Index wrong_in_parts(Index count, Index grain) {
  Tally tally(count);
  parallel_parts(count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) tally.add(i);
  });
  return tally.wrong();
}

Index wrong_in_tasks(Index count, Index grain) {
  Tally tally(count);
  parallel_tasks(count, grain, [&](Index i) { tally.add(i); });
  return tally.wrong();
}

// What `work` returns in a child of this process; -1 where it ends otherwise or takes a minute.
[[maybe_unused]] int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("each part of a loop is run once, by any number of threads", "[phase0][kernels]") {
  const SmallWorkShared shared;
  for (const int threads : {1, 2, 3, 5, 8}) {
    use_threads(threads);
    for (const bool small_too : {true, false}) {
      divide_everything = small_too;
      for (const Index count : {0, 1, 2, 3, 7, 8, 64, 1000, 100'003}) {
        for (const Index grain : {1, 100, 100'000}) {
          CAPTURE(threads, small_too, count, grain);
          CHECK(wrong_in_parts(count, grain) == 0);
          CHECK(wrong_in_tasks(count, grain) == 0);
        }
      }
    }
  }
}

namespace {

template <std::size_t count>
struct Numbered {
  std::array<int, count> numbers;
  std::atomic<int>*wrong, *elsewhere;  // parts that saw other numbers, or a copy of the body
  const void* here;

  void operator()(Index) const {
    for (std::size_t i = 0; i < count; ++i) *wrong += numbers[i] != int(i);
    *elsewhere += this != here;
  }
};

// How many of 8 parts by 2 threads ran a copy of a body of `count` numbers, of which `size` bytes
// are announced.
template <std::size_t count>
int parts_of_a_copy(Index size) {
  std::atomic<int> wrong{0}, elsewhere{0};
  Numbered<count> body{{}, &wrong, &elsewhere, nullptr};
  std::iota(body.numbers.begin(), body.numbers.end(), 0);
  body.here = &body;
  const auto run = [](const void* b, Index i) { (*static_cast<const Numbered<count>*>(b))(i); };
  share({2, 8, true, true}, {run, &body, size});
  CHECK(wrong == 0);
  return elsewhere;
}

}  // namespace

TEST_CASE("a small body is copied whole for the threads, a large one is read where it is",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  constexpr std::size_t full = (Parts::most_bytes - 3 * sizeof(void*)) / sizeof(int);
  static_assert(sizeof(Numbered<full>) == Parts::most_bytes);
  CHECK(parts_of_a_copy<1>(sizeof(Numbered<1>)) == 8);
  CHECK(parts_of_a_copy<full>(Parts::most_bytes) == 8);
  CHECK(parts_of_a_copy<full>(0) == 0);
  for (const int threads : {1, 2, 3}) {  // and by the interface
    use_threads(threads);
    std::atomic<int> wrong{0}, some{0}, large{0};
    std::array<int, 1000> numbers;
    std::iota(numbers.begin(), numbers.end(), 0);
    parallel_tasks(9, 1, [=, &wrong, &large](Index i) {
      wrong += numbers[std::size_t(111 * i)] != 111 * i;
      ++large;
    });
    parallel_tasks(9, 1, [=, last = numbers.back(), &wrong, &some](Index) {
      wrong += last != 999;
      ++some;
    });
    CHECK(wrong == 0);
    CHECK(large == 9);
    CHECK(some == 9);
  }
}

TEST_CASE("parts are consecutive and cover the loop", "[phase0][kernels]") {
  const SmallWorkShared shared;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    for (const Index count : {1, 11, 12, 13, 1000}) {
      std::vector<Index> ends(static_cast<std::size_t>(count), 0);
      parallel_parts(count, 1, [&](Index begin, Index end) { ends[std::size_t(begin)] = end; });
      Index parts = 0, at = 0;
      for (; at < count && ends[std::size_t(at)] > at; ++parts) at = ends[std::size_t(at)];
      CAPTURE(threads, count);
      CHECK(at == count);
      CHECK(parts == (threads == 1 ? 1 : std::min<Index>(count, 4 * threads)));
    }
  }
}

TEST_CASE("a small loop is one part unless a test divides everything", "[phase0][kernels]") {
  const int before = threads_in_use();
  use_threads(3);
  std::atomic<Index> parts{0}, items{0};
  parallel_parts(100, 10'000, [&](Index begin, Index end) { ++parts, items += end - begin; });
  CHECK(parts == 1);
  CHECK(items == 100);
  use_threads(before);
}

TEST_CASE("the parts of a large loop have about four grains", "[phase0][kernels]") {
  const SmallWorkShared shared;
  divide_everything = false;
  use_threads(2);
  while (threads_at_hand() == 1) std::this_thread::yield();  // whatever other tests have lost
  std::atomic<Index> parts{0};
  parallel_parts(6400, 100, [&](Index, Index) { ++parts; });
  CHECK(parts == 16);
}

TEST_CASE("as many threads share a loop as are asked for", "[phase0][kernels]") {
  const SmallWorkShared shared;
  for (const int threads : {2, 3, 8, 40, 5, 2, most_threads}) {
    use_threads(threads);
    CHECK(threads_that_meet(threads) == threads);
  }
}

TEST_CASE("threads that sleep are woken, all of them", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(8);
  for (int i = 0; i < 4; ++i) {
    CHECK(threads_that_meet(8) == 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("where tests divide everything, all threads have come before a part begins",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  REQUIRE(threads_that_meet(2) == 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the other one sleeps
  std::mutex mutex;
  std::set<std::thread::id> by;
  const double start = tapestry::now();
  parallel_tasks(2, 1, [&](Index) {
    others_come_late = true;  // who has not come by now does not
    for (bool both = false; !both && tapestry::now() - start < 2;) {
      const std::lock_guard lock(mutex);
      by.insert(std::this_thread::get_id());
      both = by.size() == 2;
    }
  });
  others_come_late = false;
  CHECK(by.size() == 2);
}

TEST_CASE("a thread that falls asleep as a loop comes takes part in it", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  REQUIRE(threads_that_meet(2) == 2);
  const Late late;
  std::atomic<int> begun{0};
  share({2, 2, true, true}, [&](Index) {
    if (++begun > 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the other may not begin yet
    for (others_come_late = false; begun < 2;) std::this_thread::yield();
  });
  CHECK(begun == 2);
}

TEST_CASE("a loop ends when the last of its parts has ended", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(3);
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> begun{0}, ended{0};
    share({3, 3, true, true}, [&](Index part) {
      for (++begun; begun < 3;) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(4 * part));
      ++ended;
    });
    CHECK(ended == 3);
  }
}

TEST_CASE("a thread takes its own parts from the front and those of others from the back",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  const Late late;
  use_threads(2);
  std::vector<Index> order;
  const auto loop = [&](bool fails) {
    parallel_parts(8, 1, [&](Index begin, Index) {
      order.push_back(begin);
      if (fails) throw Error("part " + std::to_string(begin));
    });
  };
  loop(false);
  CHECK(order == std::vector<Index>{0, 1, 2, 3, 7, 6, 5, 4});
  CHECK(complaint([&] { loop(true); }, {"part 0"}) == "");  // the first that is thrown
  CHECK(order.size() == 16);
}

TEST_CASE("no more threads share a loop than its caller allows", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(8);
  REQUIRE(threads_that_meet(8) == 8);  // seven others are there, and awake
  use_threads(3);
  for (int i = 0; i < 100; ++i) {
    std::atomic<int> inside{0}, most{0};
    parallel_tasks(12, 1, [&](Index) {
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
      std::this_thread::yield();
      --inside;
    });
    CHECK(most <= 3);
  }
}

TEST_CASE("loops of many callers at once, and loops within parts", "[phase0][kernels]") {
  const SmallWorkShared shared;
  std::atomic<Index> wrong{0}, loops{0}, elsewhere{0};
  const auto call = [&](int caller) {
    use_threads(2 + caller % 3);
    for (int i = 0; i < 100; ++i, ++loops) {
      wrong += wrong_in_parts(100 + caller, 1);
      parallel_tasks(6, 1, [&](Index) {
        const std::thread::id here = std::this_thread::get_id();
        parallel_parts(50, 1,
                       [&](Index, Index) { elsewhere += std::this_thread::get_id() != here; });
        wrong += wrong_in_tasks(20, 1);
      });
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) callers.emplace_back(call, i);
  for (std::thread& caller : callers) caller.join();
  CHECK(loops == 600);
  CHECK(wrong == 0);
  CHECK(elsewhere == 0);
}

TEST_CASE("a loop that goes alone shares no loops within", "[phase0][kernels]") {
  const SmallWorkShared shared;
  std::atomic<bool> taken{false}, enough{false};
  std::thread other([&] {
    use_threads(2);
    parallel_tasks(2, 1, [&](Index) {
      for (taken = true; !enough;) std::this_thread::yield();
    });
  });
  while (!taken) std::this_thread::yield();
  use_threads(2);
  const std::thread::id here = std::this_thread::get_id();
  std::set<std::thread::id> by;
  parallel_tasks(2, 1, [&](Index) {
    enough = true;  // by the second part, the threads are free again
    if (other.joinable()) other.join();
    by.insert(std::this_thread::get_id());
    parallel_parts(50, 1, [&](Index, Index) {
      if (std::this_thread::get_id() != here) throw Error("elsewhere");
    });
    if (share_always(50).threads != 1) throw Error("a loop within would be shared");
  });
  CHECK(by == std::set{here});
}

TEST_CASE("a thread that comes late, or never, is not waited for", "[phase0][kernels]") {
  const SmallWorkShared shared;
  const Late late;
  const std::thread::id here = std::this_thread::get_id();
  for (const int threads : {2, 5}) {
    use_threads(threads);
    for (const Index count : {5, 1000}) {
      std::set<std::thread::id> by;
      parallel_parts(count, 1, [&](Index, Index) { by.insert(std::this_thread::get_id()); });
      CHECK(by == std::set{here});
      CHECK(wrong_in_tasks(count, 1) == 0);
    }
  }
}

TEST_CASE("what a part throws is thrown when all parts have ended", "[phase0][kernels]") {
  const SmallWorkShared shared;
  for (const int threads : {2, 5}) {
    use_threads(threads);
    for (const Index bad : {0, 3, 7, 19}) {
      Tally tally(4 * threads);
      const auto loop = [&] {
        parallel_parts(4 * threads, 1, [&](Index begin, Index) {
          tally.add(begin);
          if (begin % 8 == bad % 8) throw Error("part " + std::to_string(begin) + " is bad");
        });
      };
      CHECK(complaint(loop, {"part ", "is bad"}) == "");
      CHECK(tally.wrong() == 0);
      CHECK(wrong_in_parts(100, 1) == 0);  // and all is well again
    }
  }
  std::atomic<int> begun{0};  // thrown by a thread of the pool
  const auto caller = std::this_thread::get_id();
  const auto loop = [&] {
    share({2, 2, true, true}, [&](Index) {
      for (++begun; begun < 2;) std::this_thread::yield();
      if (std::this_thread::get_id() != caller) throw Error("elsewhere");
    });
  };
  CHECK(complaint(loop, {"elsewhere"}) == "");
}

TEST_CASE("threads of the pool leave signals to the program", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(3);
  std::atomic<int> begun{0}, blocked{0};
  share({3, 3, true, true}, [&](Index) {
    for (++begun; begun < 3;) std::this_thread::yield();
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked += sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGALRM) == 1 &&
               sigismember(&mask, SIGSEGV) == 0;
  });
  CHECK(blocked == 2);
}

#if !defined(__SANITIZE_THREAD__)  // it ends a child that makes threads
TEST_CASE("a child of fork() shares loops among threads of its own", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(3);
  REQUIRE(wrong_in_parts(100, 1) == 0);
  for (int i = 0; i < 20; ++i) {
    CHECK(in_child([] { return wrong_in_parts(100, 1) == 0 ? threads_that_meet(3) : 0; }) == 3);
  }
  CHECK(threads_that_meet(3) == 3);
}

TEST_CASE("no more threads are made than share loops", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(4);
  const auto made = [] {
    const auto threads = [] {
      return int(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
    };
    const int before = threads();
    return threads_that_meet(4) == 4 ? threads() - before : -1;
  };
  CHECK(in_child(made) == 3);
}

TEST_CASE("a fork() while another thread shares loops", "[phase0][kernels]") {
  const SmallWorkShared shared;
  std::atomic<bool> enough{false};
  std::thread other([&] {
    use_threads(3);
    while (!enough) parallel_parts(100, 1, [](Index, Index) {});
  });
  use_threads(3);
  for (int i = 0; i < 20; ++i) {
    CHECK(in_child([] { return wrong_in_parts(100, 1) == 0 ? threads_that_meet(3) : 0; }) == 3);
  }
  enough = true;
  other.join();
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need room themselves
TEST_CASE("threads that the system does not give are done without", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(8);
  constexpr int not_limited = 4;  // an emulator of another processor may not hold the limit
  const auto without_room = [] {
    const rlimit none{1 << 20, 1 << 20};  // less than there is in use: no stack for anyone
    if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
    void* const room =
        mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) return not_limited;
    try {  // the system keeps a few stacks of threads that have ended
      for (int i = 0; i < 1000; ++i) std::thread([] { pause(); }).detach();
      return 2;
    } catch (const std::system_error&) {
      return wrong_in_parts(100, 1) == 0 && wrong_in_tasks(100, 1) == 0 ? 0 : 3;
    }
  };
  const int result = in_child(without_room);
  if (result == not_limited) {
    WARN("left out: memory cannot be limited here");
    SUCCEED();
  } else {
    CHECK(result == 0);
  }
}
#endif

}  // namespace tapestry::kernels
