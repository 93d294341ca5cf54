// The threads that share loops: each part once, whoever asks and however late the others are.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "course/timing.hpp"
#include "kernels/account.hpp"
#include "kernels/parallel.hpp"
#include "ops/expect.hpp"
#include "temporary_folder.hpp"
#include "threads.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

namespace tapestry::kernels {
namespace {

template <class Body>
void share(const Sharing& sharing, const Body& body) {
  share(sharing,
        Parts{[](const void* f, Index part) { (*static_cast<const Body*>(f))(part); }, &body});
}

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

// Every thread has one part and waits in it until all have begun: ends only if they are so many.
int threads_that_meet(int threads) {
  std::atomic<int> begun{0};
  share({threads, threads, true, true}, [&](Index) {
    for (++begun; begun < threads;) std::this_thread::yield();
  });
  return begun;
}

class Late {
 public:
  Late() { others_come_late = true; }
  ~Late() { others_come_late = false; }
};

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

TEST_CASE("parts are consecutive and cover the loop", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(3);
  for (const Index count : {1, 11, 12, 13, 1000}) {
    std::vector<Index> ends(static_cast<std::size_t>(count), 0);
    parallel_parts(count, 1, [&](Index begin, Index end) { ends[std::size_t(begin)] = end; });
    Index parts = 0, at = 0;
    for (; at < count && ends[std::size_t(at)] > at; ++parts) at = ends[std::size_t(at)];
    CHECK(at == count);
    CHECK(parts == std::min<Index>(count, 12));
  }
}

TEST_CASE("as many threads share a loop as are asked for", "[phase0][kernels]") {
  const SmallWorkShared shared;
  for (const int threads : {2, 3, 8, 40, 5, 2}) {
    use_threads(threads);
    CHECK(threads_that_meet(threads) == threads);
  }
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
    blocked += sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGALRM) == 1;
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

TEST_CASE("after time was lost to a thread that was stopped, loops are not shared for a while",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  const auto caller = std::this_thread::get_id();
  const auto lose_time = [&] {
    std::atomic<int> begun{0};
    share({2, 2, true, true}, [&](Index) {
      for (++begun; begun < 2;) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    });
  };
  bool alone = false;  // on a machine that stands still for long, it may take a few tries
  for (int i = 0; i < 100 && !alone; ++i) {
    lose_time();
    alone = threads_at_hand() == 1;
  }
  CHECK(alone);
  while (threads_at_hand() == 1) std::this_thread::yield();  // and then again
  CHECK(threads_at_hand() == 2);

  // Now nothing is saved. Parts of so many milliseconds: the first half is the caller's.
  const auto is_alone_after = [&](const std::vector<int>& times) {
    while (threads_at_hand() == 1) std::this_thread::yield();
    share({2, Index(times.size()), true, true}, [&](Index part) {
      std::this_thread::sleep_for(std::chrono::milliseconds(times[std::size_t(part)]));
    });
    return threads_at_hand() == 1;
  };
  for (int i = 0; i < 100 && alone; ++i) alone = is_alone_after({2, 2, 1, 9});
  CHECK_FALSE(alone);  // it lost 2 of the 4 milliseconds that it saved
  for (int i = 0; i < 100 && !alone; ++i) alone = is_alone_after({2, 16});
  CHECK(alone);
  for (int i = 0; i < 100 && alone; ++i) alone = is_alone_after({2, 7});
  CHECK_FALSE(alone);
}

TEST_CASE("loops are not shared for twenty times what that has lost beyond what it saved",
          "[phase0][kernels]") {
  constexpr Index ms = 1'000'000, start = 500 * ms;
  Account account;
  account.add(start, 0, 2 * ms, 2 * ms);  // as long as a part takes is no loss
  CHECK_FALSE(account.alone(start));
  account.add(start, 0, 13 * ms, 2 * ms);
  CHECK(account.alone(start));
  CHECK(account.alone(start + 218 * ms));
  CHECK_FALSE(account.alone(start + 220 * ms));

  account.add(start + 300 * ms, 5 * ms, 0, 1 * ms);
  account.add(start + 300 * ms, 5 * ms, 0, 1 * ms);
  account.add(start + 300 * ms, 0, 9 * ms, 1 * ms);
  CHECK_FALSE(account.alone(start + 300 * ms));  // 8 of the 10 saved
  account.add(start + 300 * ms, 0, 9 * ms, 1 * ms);
  CHECK(account.alone(start + 300 * ms));
  CHECK(account.alone(start + 417 * ms));
  CHECK_FALSE(account.alone(start + 418 * ms));
}

TEST_CASE("neither the longest quiet nor the longest loss counts for ever", "[phase0][kernels]") {
  constexpr Index ms = 1'000'000, hour = 3600'000 * ms, start = 500 * ms;
  Account account;
  account.add(start, hour, 0, ms);
  account.add(start, 0, 40 * ms, 1 * ms);
  CHECK_FALSE(account.alone(start));
  account.add(start, 0, 40 * ms, 1 * ms);
  CHECK(account.alone(start));
  account.add(start, 0, hour, 1 * ms);
  CHECK(account.alone(start + 1999 * ms));
  CHECK_FALSE(account.alone(start + 2000 * ms));
}

TEST_CASE("gains and losses of shared loops count to the nanosecond", "[phase0][kernels]") {
  constexpr Index hour = 3600'000'000'000, grace = 50'000, most_saved = 50'000'000;
  Account tolerant;
  tolerant.add(0, 0, grace + 7, 7);
  CHECK_FALSE(tolerant.alone(0));
  tolerant.add(0, 0, grace + 8, 7);
  CHECK(tolerant.alone(19));
  CHECK_FALSE(tolerant.alone(20));
  Account rich;
  rich.add(0, hour, 0, 0);
  rich.add(0, 0, grace + most_saved, 0);
  CHECK_FALSE(rich.alone(0));
  rich.add(0, 0, grace + 1, 0);
  CHECK(rich.alone(19));
  CHECK_FALSE(rich.alone(20));
  rich.add(0, 0, hour, 0);
  CHECK(rich.alone(1'999'999'999));
  CHECK_FALSE(rich.alone(2'000'000'000));
}

TEST_CASE("small loops are shared with threads that are awake, large ones wake them",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  divide_everything = false;
  use_threads(2);
  while (threads_at_hand() == 1) std::this_thread::yield();  // whatever other tests have lost
  CHECK(share_if_worthwhile(1, 1, 1).threads == 1);
  CHECK(share_if_worthwhile(39, 640, 10).threads == 1);
  const Sharing large = share_if_worthwhile(1285, 640, 80);
  CHECK(large.threads == 2);
  CHECK(large.parts == 16);
  CHECK(large.wakes);
  CHECK(share_if_worthwhile(1285, 640, 2560).parts == 2);
  CHECK(share_if_worthwhile(100'000, 640, 1).parts == 128);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(share_if_worthwhile(45, 640, 10).wakes);
  bool wakes = false;  // many without a pause do, too
  for (int i = 0; i < 1'000'000 && !wakes; ++i) wakes = share_if_worthwhile(45, 640, 10).wakes;
  CHECK(wakes);
  use_threads(1);
  CHECK(share_if_worthwhile(10'000, 640, 10).threads == 1);
  CHECK(threads_at_hand() == 1);
}

TEST_CASE("a thread that slept and was woken counts as one that is awake", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the other one sleeps
    while (threads_at_hand() == 1) std::this_thread::yield();
    std::atomic<int> begun{0};
    std::atomic<bool> asked{false};
    Sharing answer;
    // A third thread asks while the other one is in a loop, however busy the machine is.
    std::thread third([&] {
      use_threads(2);
      while (begun < 2) std::this_thread::yield();
      answer = share_if_worthwhile(45, 640, 10);
      asked = true;
    });
    share({2, 2, true, true}, [&](Index) {  // wakes it
      for (++begun; !asked;) std::this_thread::yield();
    });
    third.join();
    CHECK(answer.threads == 2);
    CHECK_FALSE(answer.wakes);
  }
}

TEST_CASE("a thread without work soon sleeps, and takes no processor time", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  while (threads_at_hand() == 1) std::this_thread::yield();
  divide_everything = true;
  parallel_tasks(2, 1, [](Index) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = processor_now();  // of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(processor_now() - before < 0.03);
}

TEST_CASE("the number of threads: of each calling thread, and from OMP_NUM_THREADS",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  const int at_the_start = threads_in_use();
  CHECK(at_the_start >= 1);
  use_threads(at_the_start + 3);
  CHECK(threads_in_use() == at_the_start + 3);
  int of_another = 0;
  std::thread([&] { of_another = threads_in_use(); }).join();
  CHECK(of_another == at_the_start);
  use_threads(1'000'000);
  CHECK(threads_in_use() == most_threads);
  CHECK(threads_in_use() == 255);

  for (const auto& [text, number] : std::initializer_list<std::pair<const char*, int>>{
           {"4", 4}, {" 3 ", 3}, {"6,2,1", 6}, {"5 , 2", 5}, {"16", 16}}) {
    CHECK(first_number(text) == number);
    CHECK(count_at_the_start(text) == number);
  }
  CHECK(count_at_the_start("9999") == most_threads);
  const int processors = count_at_the_start(nullptr);
  CHECK(processors >= 1);
  CHECK(processors <= int(std::thread::hardware_concurrency()));
  for (const char* const nonsense : {"", " ", "0", "-2", "two", "3x", "3 4", ",3", "99999999999"}) {
    CAPTURE(nonsense);
    CHECK(first_number(nonsense) == 0);
    CHECK(count_at_the_start(nonsense) == processors);
  }
}

TEST_CASE("rows are shared by how many numbers they have", "[phase0][kernels]") {
  CHECK(row_grain(0) == 1);
  CHECK(row_grain(1) == parallel_grain);
  CHECK(row_grain(100) == parallel_grain / 100);
  CHECK(row_grain(parallel_grain / 2) == 2);
  CHECK(row_grain(parallel_grain) == 1);
  CHECK(row_grain(10 * parallel_grain) == 1);
}

TEST_CASE("processors of a control group: time by period, or no limit", "[phase0][kernels]") {
  const TemporaryFolder folder;
  const auto quota_of = [&](const char* text) {
    std::ofstream(folder / "cpu.max") << text;
    return quota((folder / "cpu.max").c_str());
  };
  CHECK(quota_of("200000 100000\n") == 2);
  CHECK(quota_of("50000 100000\n") == 0.5);
  for (const char* unlimited : {"max 100000\n", "", "0 100000\n", "100000 0\n", "100000\n"}) {
    CAPTURE(unlimited);
    CHECK(quota_of(unlimited) == most_threads);
  }
  CHECK(quota((folder / "none").c_str()) == most_threads);
}

}  // namespace tapestry::kernels
