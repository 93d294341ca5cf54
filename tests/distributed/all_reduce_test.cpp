#include "tapestry/distributed/all_reduce.hpp"

#include <vector>

#include "catch.hpp"
#include "late.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

TEST_CASE("all ranks get the sum of the fixed tree", "[distributed][phase8]") {
  for (const Index size : {Index(0), Index(1), Index(2), Index(7), Index(1000), Index(200'003)}) {
    for (const int count : {1, 2, 3, 5, 8}) {
      CAPTURE(size, count);
      std::vector<std::vector<real>> numbers;
      for (int rank = 0; rank < count; ++rank) {
        numbers.push_back(Random(9, std::uint64_t(rank)).normal({size}, 0, 100).values());
      }
      std::vector<std::vector<real>> copies = numbers;
      std::vector<TreePart> leaves;
      for (int rank = 0; rank < count; ++rank) {
        leaves.push_back({{rank, rank + 1}, copies[std::size_t(rank)].data()});
      }
      add_up({0, count}, leaves, size);
      run_as_threads(count, [&](Ranks& ranks) {
        std::vector<real>& own = numbers[std::size_t(ranks.rank())];
        all_reduce(ranks, own);
        all_reduce(ranks, std::span<real>());  // another one follows at once
      });
      for (const std::vector<real>& sums : numbers) CHECK(sums == copies.front());
    }
  }
}

TEST_CASE("an all-reduce begins no message too many, and waits for each", "[distributed][phase8]") {
  constexpr std::size_t size = 200'003;  // two messages for each part
  std::vector<std::vector<real>> numbers(3, std::vector<real>(size));
  const LateMessages messages = run_late(3, [&](LateRanks& ranks) {
    std::vector<real>& own = numbers[std::size_t(ranks.rank())];
    for (std::size_t i = 0; i < size; ++i) own[i] = real(ranks.rank() + 1) * real(i % 100);
    all_reduce(ranks, own);
  });
  CHECK(messages == LateMessages{3 * 2 * (2 + 2) * 2, 0});  // sent and received, there and back
  std::size_t wrong = 0;
  for (const std::vector<real>& sums : numbers) {
    for (std::size_t i = 0; i < size; ++i) wrong += sums[i] == real(6 * (i % 100)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
