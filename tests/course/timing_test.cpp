#include "course/timing.hpp"

#include <thread>

#include "catch.hpp"

using namespace tapestry;

namespace {

void compute_until(double seconds) {  // of all that this process has taken
  while (processor_now() < seconds) continue;
}

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

TEST_CASE("the processor seconds of some work are those of its quickest run", "[phase6][timing]") {
  compute_until(0.1);
  int run = 0;
  const double best = processor_seconds([&] {
    const double longer[] = {0.03, 0.01, 0.02};
    compute_until(processor_now() + longer[run++]);
  });
  CHECK(run == 3);
  CHECK(best >= 0.0099);
  CHECK(best < 0.0199);
  processor_seconds([&] { ++run; }, 5);
  CHECK(run == 8);
}

TEST_CASE("works take turns, and the quickest run of each counts", "[phase6][timing]") {
  compute_until(0.1);
  std::vector<std::size_t> turns;
  const std::vector<double> best = processor_seconds_in_turns(2, 3, [&](std::size_t i) {
    const double seconds[] = {0.02, 0.05, 0.01, 0.03, 0.02, 0.04};
    compute_until(processor_now() + seconds[turns.size()]);
    turns.push_back(i);
  });
  CHECK(turns == std::vector<std::size_t>{0, 1, 0, 1, 0, 1});
  REQUIRE(best.size() == 2);
  CHECK((best[0] >= 0.0099 && best[0] < 0.0199));
  CHECK((best[1] >= 0.0299 && best[1] < 0.0399));
}

TEST_CASE("what waits takes time, but not the processor's", "[phase6][timing]") {
  CHECK(seconds_of([] { wait(0.05); }) >= 0.05);
  CHECK(processor_seconds([] { wait(0.05); }) < 0.04);
}

TEST_CASE("the best of several runs is the quickest, of so many or in so much time",
          "[phase6][timing]") {
  int run = 0;
  const double best = best_seconds(
      [&] {
        const double longer[] = {0.5, 0.01, 0.5};  // far apart: a busy machine adds to each
        wait(longer[run++]);
      },
      3, 0);
  CHECK(run == 3);
  CHECK(best >= 0.01);
  CHECK(best < 0.5);
  const double start = now();
  best_seconds([&] { ++run; }, 1, 0.02);
  CHECK(run > 4);
  CHECK(now() - start >= 0.02);
}

TEST_CASE("a burst grows until the clock can tell its time", "[phase6][timing]") {
  std::vector<std::int64_t> bursts;
  double best = 0;
  for (int attempt = 0; attempt < 20 && bursts.size() < 5; ++attempt) {  // on a busy machine
    bursts.clear();
    best = best_of_one(
        [&](std::int64_t times) {
          bursts.push_back(times);
          wait(1e-4 * double(times));
        },
        0);
  }
  REQUIRE(bursts.size() >= 5);  // 1, 2, 4 ... at most 32, which takes three milliseconds
  for (std::size_t i = 0; i + 3 < bursts.size(); ++i) CHECK(bursts[i] == std::int64_t{1} << i);
  for (std::size_t i = bursts.size() - 3; i < bursts.size(); ++i) {
    CHECK(bursts[i] == bursts[bursts.size() - 4]);
  }
  CHECK((best >= 1e-4 && best < 0.01));
}

TEST_CASE("the median is the middle one, or between the two in the middle", "[phase6][timing]") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({4, 1, 2, 8}) == 3);
}
