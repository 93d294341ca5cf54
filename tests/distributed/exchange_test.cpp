#include "distributed/exchange.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "late.hpp"

using namespace tapestry;

TEST_CASE("each rank's part comes to all others, in one message", "[distributed][phase8]") {
  const std::vector<Range> parts = {{0, 4}, {4, 4}, {4, 5}, {5, 11}};
  std::vector<std::vector<double>> all(4, std::vector<double>(11, -1));
  const LateMessages messages = run_late(4, [&](LateRanks& ranks) {
    std::vector<double>& mine = all[static_cast<std::size_t>(ranks.rank())];
    const Range& own = parts[static_cast<std::size_t>(ranks.rank())];
    for (Index i = own.first; i < own.last; ++i) mine[static_cast<std::size_t>(i)] = double(i);
    gather(ranks, std::span(mine), parts, 7);
  });
  CHECK(messages == LateMessages{4 * 3 * 2, 0});
  std::vector<double> expected(11);
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::vector<double>& numbers : all) CHECK(numbers == expected);
}

TEST_CASE("a text of one rank comes to all, whatever they had", "[distributed][phase8]") {
  const std::vector<std::string> texts = {"a", "", "three words here"};
  for (int from = 0; from < 3; ++from) {
    std::vector<std::string> came(3);
    const LateMessages messages = run_late(3, [&](LateRanks& ranks) {
      const auto here = static_cast<std::size_t>(ranks.rank());
      came[here] = text_of(ranks, from, texts[here]);
    });
    CHECK(messages == LateMessages{2 * 2 * 2, 0});
    CHECK(came == std::vector<std::string>(3, texts[static_cast<std::size_t>(from)]));
  }
}
