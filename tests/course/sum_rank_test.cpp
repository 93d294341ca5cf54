// A rank with a vector, its messages and a simulated clock.
#include "course/sum_rank.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("a sum of two ranks, with what each of them did", "[phase8][course]") {
  std::vector<SumRecord> all(2);
  run_as_threads(2, [&](Ranks& ranks) {
    SumRank rank(ranks, {}, 3);
    if (ranks.rank() == 1) rank.send(0, 1, 3);
    if (ranks.rank() == 0) rank.add(rank.receive(1, 2), 1);
    rank.end_step();
    if (ranks.rank() == 0) rank.send(1, 0, 3);
    if (ranks.rank() == 1) rank.put(rank.receive(0, 3), 0);
    rank.end_step();
    all[std::size_t(ranks.rank())] = rank;
  });
  for (const SumRecord& one : all) {
    CHECK(one.numbers == std::vector<float>{1, 3, 3});
    CHECK(one.messages == 1);
    CHECK(one.clock == 0);  // a link without costs
    REQUIRE(one.steps.size() == 3);
    CHECK(one.steps[0].sent.empty());
    CHECK(one.steps[2].after == one.numbers);
  }
  CHECK(all[0].bytes == 12);
  CHECK(all[1].bytes == 8);
  CHECK(all[0].steps[0].after == std::vector<float>{1, 1, 1});
  CHECK(all[1].steps[0].after == std::vector<float>{2, 2, 2});
  CHECK(all[0].steps[1].after == all[0].numbers);
  CHECK(all[1].steps[1].after == all[1].steps[0].after);
  CHECK(all[1].steps[1].sent == std::vector<Sent>{{1, 0, 1, 3}});
  CHECK(all[0].steps[2].sent == std::vector<Sent>{{0, 1, 0, 3}});
  CHECK(all[1].steps[2].sent.empty());
}

TEST_CASE("the simulated clock: one message at a time in each direction", "[phase8][course]") {
  const NetworkLink link{0.5, 8};  // 2 numbers: 1.5 s
  std::vector<SumRecord> all(3);
  run_as_threads(3, [&](Ranks& ranks) {
    SumRank rank(ranks, link, 2);
    if (ranks.rank() == 0) {
      rank.add(rank.receive(1, 2), 0);
      rank.add(rank.receive(2, 2), 0);  // sent at once, but received behind the other
      rank.send(1, 0, 2), rank.send(2, 0, 1);
    } else {
      rank.send(0, 0, 2);
      rank.put(rank.receive(0, ranks.rank() == 1 ? 2 : 1), 0);
    }
    all[std::size_t(ranks.rank())] = rank;
  });
  CHECK(all[0].clock == 3);
  CHECK(all[1].clock == 4.5);
  CHECK(all[2].clock == 5.5);  // behind the other one, half as many bytes
  CHECK(all[0].numbers == std::vector<float>{7, 7});
  CHECK(all[2].numbers == std::vector<float>{7, 4});
  CHECK(all[0].messages == 2);
}

TEST_CASE("long vectors are not kept for each step", "[phase8][course]") {
  SumRank short_one(alone(), {}, 4), long_one(alone(), {}, 5), none(alone(), {}, 0);
  for (SumRank* rank : {&short_one, &long_one, &none}) {
    rank->send(0, 0, rank->numbers.size());  // to itself
    rank->add(rank->receive(0, rank->numbers.size()), 0);
    rank->end_step();
    REQUIRE(rank->steps.size() == 2);
  }
  CHECK(short_one.steps[1].after == std::vector<float>(4, 2));
  CHECK(long_one.steps[1].after.empty());
  CHECK(long_one.numbers == std::vector<float>(5, 2));
  CHECK(none.steps[1].after.empty());
}
