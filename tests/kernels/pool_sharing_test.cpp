// When the pool shares a loop, and with how many threads.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "course/timing.hpp"
#include "kernels/account.hpp"
#include "kernels/parallel.hpp"
#include "kernels/pool_threads.hpp"
#include "threads.hpp"

namespace tapestry::kernels {
namespace {

// Whether all threads of the pool go to sleep. No loop may be alone for a while.
bool all_fall_asleep() {
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (share_if_worthwhile(300, 2112, 10).threads == 1) return true;
  }
  return false;
}

double processor_time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

}  // namespace

TEST_CASE("after time was lost to a thread that was stopped, loops are not shared for a while",
          "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  const auto caller = std::this_thread::get_id();
  double spent = 0;  // by the caller while it waits
  const auto lose_time = [&] {
    std::atomic<int> begun{0};
    share({2, 2, true, true}, [&](Index) {
      for (++begun; begun < 2;) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) {
        spent = -processor_time_of_thread();
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
    });
    spent += processor_time_of_thread();
  };
  bool alone = false;  // on a machine that stands still for long, it may take a few tries
  for (int i = 0; i < 100 && !alone; ++i) {
    lose_time();
    alone = threads_at_hand() == 1;
  }
  CHECK(alone);
  CHECK(spent < 0.004);  // it spins for a millisecond, then it sleeps

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
  for (int i = 0; i < 100 && !alone; ++i) alone = is_alone_after({4, 1, 1, 17});
  CHECK(alone);  // it lost 5, and saved twice its own shortest part
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
  tolerant.add(0, 0, 0, 0);  // no news
  CHECK(tolerant.alone(19));
  tolerant.add(5, 0, grace + 1, 0);  // what was lost before is paid
  CHECK(tolerant.alone(24));
  CHECK_FALSE(tolerant.alone(25));
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
  CHECK(share_if_worthwhile(2, 1, 1).threads == 2);
  CHECK(share_if_worthwhile(2, 1, 1).wakes);
  CHECK(share_if_worthwhile(39, 1280, 10).threads == 1);
  const Sharing large = share_if_worthwhile(2570, 1280, 160);
  CHECK(large.threads == 2);
  CHECK(large.parts == 16);
  CHECK(large.wakes);
  CHECK(share_if_worthwhile(2570, 1280, 5120).parts == 8);  // a thread that wakes late finds some
  CHECK(share_if_worthwhile(5, 1, 20).parts == 4);          // 5 have no 8
  CHECK(share_if_worthwhile(100'000, 640, 1).parts == 128);
  CHECK(share_if_worthwhile(100, 10, 1).parts == 100);
  CHECK(share_if_worthwhile(100, 10, 0).parts == 100);
  use_threads(1);
  CHECK(share_if_worthwhile(10'000, 640, 10).threads == 1);
  CHECK(share_if_worthwhile(10'000, 640, 10).parts == 1);
  CHECK(threads_at_hand() == 1);
}

TEST_CASE("small loops are a stream where their pauses are short on average", "[phase0][kernels]") {
  constexpr Index spin = SmallLoops::spin_time;
  const auto loops_until_stream = [](const std::vector<Index>& pauses, Index start) {
    SmallLoops loops;
    Index now = start;
    for (int i = 1; i <= 1000; ++i) {
      now += pauses[std::size_t(i) % pauses.size()];
      if (loops.are_a_stream(now)) return i;
    }
    return 0;  // never
  };
  constexpr Index later = 3600'000'000'000;
  CHECK(loops_until_stream({0}, later) == 16);  // the first one ends a long pause
  CHECK(loops_until_stream({spin / 2}, later) == 31);
  CHECK(loops_until_stream({0, spin}, later) == 30);
  CHECK(loops_until_stream({0, 3 * spin / 2}, later) == 58);  // a longer pause now and then
  CHECK(loops_until_stream({spin}, later) == 0);
  CHECK(loops_until_stream({0, 2 * spin}, later) == 0);
  SmallLoops loops;
  Index now = later;
  for (int i = 0; i < 1000; ++i) loops.are_a_stream(now);  // saves no more than 30 pauses
  CHECK(loops.are_a_stream(now += 15 * spin));
  CHECK(loops.are_a_stream(now += 2 * spin));
  CHECK_FALSE(loops.are_a_stream(now += 1 + spin));
}

TEST_CASE("small loops wake threads where many come without a pause", "[phase0][kernels]") {
  const SmallWorkShared shared;
  divide_everything = false;
  use_threads(2);
  while (threads_at_hand() == 1) std::this_thread::yield();
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  for (int i = 0; i < 20; ++i) {
    pause();
    CHECK_FALSE(share_if_worthwhile(i % 2 == 0 ? 66 : 4223, 2112, 10).wakes);
  }
  int least = 1000;  // a machine that stands still makes pauses
  for (int i = 0; i < 50; ++i) {
    pause();
    Sharing sharing;
    int loops = 0;
    while (!sharing.wakes && loops < 1000) ++loops, sharing = share_if_worthwhile(66, 2112, 10);
    if (sharing.wakes) CHECK(sharing.threads == 2);
    least = std::min(least, loops);
  }
  CHECK((least == 16 || least == 17));  // 16 where no time passes between them
  for (int i = 0; i < 100; ++i) CHECK(share_if_worthwhile(65, 2112, 10).threads == 1);
}

TEST_CASE("a thread that slept and was woken counts as one that is awake", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(8);
  REQUIRE(threads_that_meet(8) == 8);  // there are some that are not woken below
  for (int i = 0; i < 5; ++i) {
    while (threads_at_hand() == 1) std::this_thread::yield();
    CHECK(all_fall_asleep());
    std::atomic<int> begun{0};
    std::atomic<bool> asked{false};
    Sharing answer, in_long_parts;
    // A third thread asks while the other one is in a loop, however busy the machine is.
    std::thread third([&] {
      use_threads(8);
      while (begun < 2) std::this_thread::yield();
      answer = share_if_worthwhile(300, 2112, 10);
      in_long_parts = share_if_worthwhile(300, 2112, 1000);
      asked = true;
    });
    share({2, 2, true, true}, [&](Index) {  // wakes it
      for (++begun; !asked;) std::this_thread::yield();
    });
    third.join();
    CHECK(answer.threads == 2);
    CHECK_FALSE(answer.wakes);
    CHECK(in_long_parts.parts == 2);  // none has to wake
  }
}

TEST_CASE("a thread without work soon sleeps, and takes no processor time", "[phase0][kernels]") {
  const SmallWorkShared shared;
  use_threads(2);
  while (threads_at_hand() == 1) std::this_thread::yield();
  divide_everything = true;
  parallel_tasks(2, 1, [](Index) {});
  {
    const Late late;  // and after a loop that it missed
    parallel_tasks(2, 1, [](Index) {});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = processor_now();  // of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(processor_now() - before < 0.03);
}

}  // namespace tapestry::kernels
