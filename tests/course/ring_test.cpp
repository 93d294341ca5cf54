// Messages on a ring of ranks, and the sum by them; what the first of several ranks has.
#include "course/ring.hpp"

#include <limits>
#include <vector>

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "course/first_rank.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

TEST_CASE("an exchange brings each rank what the previous one had", "[phase8][course]") {
  for (const int size : {1, 2, 3}) {
    run_as_threads(size, [&](Ranks& ranks) {
      const int mine = 10 + ranks.rank();
      int got = 0;
      exchange(ranks, bytes_of(mine), bytes_of(got));
      CHECK_IN_THREAD(got == 10 + ranks.previous());
      const std::vector<real> large(300'000, real(mine));  // more than a rank may send unasked
      std::vector<real> other(large.size());
      exchange(ranks, std::as_bytes(std::span(large)), std::as_writable_bytes(std::span(other)));
      CHECK_IN_THREAD(other == std::vector<real>(large.size(), real(got)));
    });
  }
}

TEST_CASE("on a ring all ranks get the sum of all", "[phase8][course]") {
  for (const int size : {1, 2, 3, 5}) {
    for (const std::size_t count : {0, 1, 4, 17}) {  // also fewer numbers than ranks
      run_as_threads(size, [&](Ranks& ranks) {
        std::vector<real> numbers(count), sums(count);
        for (std::size_t i = 0; i < count; ++i) {
          numbers[i] = real(1 << ranks.rank()) + real(100 * i);
          sums[i] = real((1 << size) - 1) + real(size) * real(100 * i);
        }
        ring_all_reduce(ranks, numbers);
        CHECK_IN_THREAD(numbers == sums);
      });
    }
  }
}

TEST_CASE("a chunk is added from its own rank on, round the ring", "[phase8][course]") {
  // In floats of any width 1 + tiny + tiny is 1, and tiny + tiny + 1 is not.
  const real tiny = std::numeric_limits<real>::epsilon() / 2;
  run_as_threads(3, [&](Ranks& ranks) {
    std::vector<real> numbers(3, ranks.rank() == 0 ? real(1) : tiny);
    ring_all_reduce(ranks, numbers);
    CHECK_IN_THREAD(numbers == std::vector<real>{1, 1 + 2 * tiny, 1});
  });
}

TEST_CASE("of several ranks the first one's result is returned, when all have ended",
          "[phase8][course]") {
  CHECK(of_first_rank(3, [](Ranks& ranks) {
          return std::vector<int>{ranks.rank(), ranks.size()};
        }) == std::vector<int>{0, 3});
  CHECK_THROWS_AS(of_first_rank(2,
                                [](Ranks& ranks) {
                                  if (ranks.rank() == 1) throw Error("no");
                                  return 1;
                                }),
                  Error);
}
