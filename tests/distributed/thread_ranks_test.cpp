#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "memory_limit.hpp"
#include "ops/expect.hpp"
#include "sanitizers.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/tensor.hpp"
#include "threads.hpp"

using namespace tapestry;

TEST_CASE("numbers travel once round a ring of threads", "[distributed][phase8]") {
  for (const int count : {1, 2, 3, 8}) {
    std::vector<int> sums(static_cast<std::size_t>(count));
    run_as_threads(count, [&](Ranks& ranks) {
      int travelling = ranks.rank(), sum = 0;
      for (int hop = 0; hop < count; ++hop) {
        sum += travelling;
        int arrived = -1;
        Message sent = ranks.send(ranks.next(), 3, bytes_of(travelling));
        Message got = ranks.receive(ranks.previous(), 3, bytes_of(arrived));
        ranks.wait(sent), ranks.wait(got);
        travelling = arrived;
      }
      CHECK_IN_THREAD(travelling == ranks.rank());
      sums[static_cast<std::size_t>(ranks.rank())] = sum;
    });
    for (const int sum : sums) CHECK(sum == count * (count - 1) / 2);
  }
}

TEST_CASE("messages of one tag arrive in order, and tags are apart", "[distributed][phase8]") {
  run_as_threads(2, [](Ranks& ranks) {
    std::array<int, 3> a{};
    if (ranks.rank() == 0) {
      for (const int i : {10, 20}) ranks.send(1, 5, bytes_of(i));
      const int other = 30;
      ranks.send(1, 6, bytes_of(other));
      return;
    }
    Message late = ranks.receive(0, 6, bytes_of(a[2]));
    ranks.wait(late);
    Message first = ranks.receive(0, 5, bytes_of(a[0])),
            second = ranks.receive(0, 5, bytes_of(a[1]));
    ranks.wait(second), ranks.wait(first);  // each gets its own
    CHECK_IN_THREAD(a == std::array<int, 3>{10, 20, 30});
    CHECK_IN_THREAD(late.number == 0);  // ended long ago
    CHECK_IN_THREAD(ranks.done(late));
  });
}

TEST_CASE("a rank sends to itself, and empty messages travel", "[distributed][phase8]") {
  Ranks& ranks = alone();
  CHECK(ranks.size() == 1);
  CHECK(ranks.next() == 0);
  const double sent = 2.5;
  double got = 0;
  Message later = ranks.receive(0, 1, bytes_of(got));
  CHECK_FALSE(ranks.done(later));
  ranks.send(0, 1, bytes_of(sent));
  CHECK(ranks.done(later));
  CHECK(got == 2.5);
  ranks.send(0, 0, {});  // 0 is the first tag
  Message nothing = ranks.receive(0, 0, {});
  CHECK(ranks.done(nothing));
}

TEST_CASE("threads of ranks use as many threads as their caller", "[distributed][phase8]") {
  const SmallWorkShared scope;
  use_threads(3);
  std::atomic<int> in_all = 0;
  run_as_threads(2, [&](Ranks&) { in_all += threads_in_use(); });
  CHECK(in_all == 2 * 3);
}

TEST_CASE("what a rank that fails has waited for is not written any more",
          "[distributed][phase8]") {
  struct Later {  // the sender comes when a failure has ended what was made after this
    std::atomic<bool>&failed, &sent;
    ~Later() {
      failed = true;
      while (!sent) std::this_thread::yield();
    }
  };
  int room = 0;
  std::atomic<bool> failed = false, sent = false;
  const auto work = [&](Ranks& ranks) {
    if (ranks.rank() == 1) {
      const Later later{failed, sent};
      ranks.receive(0, 1, bytes_of(room));
      throw Error("out of paper");
    }
    while (!failed) std::this_thread::yield();
    const int seven = 7;
    ranks.send(1, 1, bytes_of(seven));
    sent = true;
  };
  CHECK(complaint([&] { run_as_threads(2, work); }, {"out of paper"}) == "");
  CHECK(room == 0);
}

TEST_CASE("a failure of one thread ends the others' waits", "[distributed][phase8]") {
  std::atomic<int> told = 0;
  try {
    run_as_threads(3, [&](Ranks& ranks) {
      ranks.enter(7, "sum of gradients");
      if (ranks.rank() == 1) throw Error("rank 1 is out of paper");
      int never = 0;
      Message message = ranks.receive(1, 1, bytes_of(never));
      try {
        ranks.wait(message);
      } catch (const Error& error) {
        CHECK_IN_THREAD(std::string(error.what()) ==
                        "rank " + std::to_string(ranks.rank()) +
                            " (step 7, sum of gradients) waits for a message of rank 1, tag "
                            "1, but a rank has failed.");
        ++told;
        throw;
      }
    });
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "rank 1 is out of paper");
  }
  CHECK(told == 2);
}

TEST_CASE("a wait for a rank that has ended says so, after what it had sent",
          "[distributed][phase8]") {
  const auto work = [](Ranks& ranks) {
    if (ranks.rank() == 0) {
      ranks.enter(2, "backward pass");
      ranks.send(1, 4, bytes_of(7));
      return;
    }
    int got = 0, never = 0;
    Message first = ranks.receive(0, 4, bytes_of(got)),
            second = ranks.receive(0, 4, bytes_of(never));
    ranks.wait(first);
    CHECK_IN_THREAD(got == 7);
    ranks.wait(second);
  };
  CHECK(complaint([&] { run_as_threads(2, work); },
                  {"rank 1 (its start) waits for a message of rank 0, tag 4, but rank 0 (step 2, "
                   "backward pass) has ended: all ranks must make the same exchanges."}) == "");
}

TEST_CASE("a message of another size is told to its receiver, every time it looks",
          "[distributed][phase8]") {
  run_as_threads(2, [](Ranks& ranks) {
    const double wide = 1;
    int narrow = 0;
    if (ranks.rank() == 0) {
      ranks.enter(3, "sum of gradients");
      ranks.send(1, 5, bytes_of(wide));
      ranks.send(1, 5, bytes_of(narrow));
      return;
    }
    ranks.enter(4, "forward pass");
    Message message = ranks.receive(0, 5, bytes_of(narrow));
    const char* const line =
        "rank 1 (step 4, forward pass): the message of rank 0 (step 3, sum of gradients), tag 5, "
        "has 8 bytes, and there is room for 4: both ranks must name the same size.";
    const std::string waited = complaint([&] { ranks.wait(message); }, {line}),
                      looked = complaint([&] { ranks.done(message); }, {line});
    CHECK_IN_THREAD(waited == "");
    CHECK_IN_THREAD(looked == "");
    Message next = ranks.receive(0, 5, bytes_of(narrow));
    ranks.wait(next);
    CHECK_IN_THREAD(next.number == 0);
  });
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("where too few threads can be started, those that wait for the rest end",
          "[distributed][phase8]") {
  const MemoryLimit limit(256 << 20);  // of addresses: a stack takes 8 MiB of them
  const auto work = [](Ranks& ranks) {
    int never = 0;
    Message message = ranks.receive(1023, 1, bytes_of(never));
    ranks.wait(message);
  };
  CHECK(complaint([&] { run_as_threads(1024, work); },
                  {"run_as_threads: only ", " of 1024 threads could be started (",
                   "): take fewer ranks."}) == "");
}
#endif

TEST_CASE("messages that cannot be are refused", "[distributed][phase8]") {
  Ranks& ranks = alone();
  int number = 0;
  CHECK_THROWS_AS(ranks.send(1, 0, bytes_of(number)), Error);
  CHECK_THROWS_AS(ranks.receive(-1, 0, bytes_of(number)), Error);
  CHECK_THROWS_AS(ranks.receive(0, -1, bytes_of(number)), Error);
  const auto refused = [&](int to, int tag) {
    const std::string line = "rank " + std::to_string(to) + ", tag " + std::to_string(tag) +
                             ": ranks are 0 to 0, and tags are not negative.";
    return complaint([&] { ranks.send(to, tag, bytes_of(number)); }, {line.c_str()});
  };
  CHECK(refused(1, 0) == "");
  CHECK(refused(0, -1) == "");
  run_as_threads(3, [&](Ranks& three) {
    if (three.rank() != 1) return;
    CHECK_IN_THREAD(complaint([&] { three.receive(3, 0, bytes_of(number)); },
                              {"rank 3, tag 0: ranks are 0 to 2, and"}) == "");
  });
  CHECK_THROWS_AS(run_as_threads(0, [](Ranks&) {}), Error);
  CHECK_THROWS_AS(run_as_threads(1025, [](Ranks&) {}), Error);
  std::atomic<int> many = 0;
  run_as_threads(1024, [&](Ranks&) { ++many; });
  CHECK(many == 1024);
}
