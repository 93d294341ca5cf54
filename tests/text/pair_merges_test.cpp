#include "text/pair_merges.hpp"

#include <algorithm>
#include <map>

#include "catch.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

using Rule = PairMerges::Rule;

// The definition: the rule of the lowest rank, at its leftmost place, until there is none.
TokenIds by_definition(const std::vector<Rule>& rules, TokenIds ids) {
  while (true) {
    const Rule* best = nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      for (const Rule& rule : rules) {
        if (rule.left != ids[i] || rule.right != ids[i + 1]) continue;
        if (best && rule.rank >= best->rank) continue;
        best = &rule;
        at = i;
      }
    }
    if (!best) return ids;
    ids[at] = best->id;
    ids.erase(ids.begin() + static_cast<long>(at) + 1);
  }
}

// Symbols 0 to `letters` - 1, and rules that each merge two tokens to a new one.
std::vector<Rule> random_rules(Random& random, std::int32_t letters, std::int32_t count) {
  std::vector<Rule> rules;
  std::map<std::pair<std::int32_t, std::int32_t>, bool> seen;
  for (std::int32_t i = 0; i < count; ++i) {
    const auto pick = [&] { return static_cast<std::int32_t>(random.randint(letters + i)); };
    const std::int32_t left = pick(), right = pick();
    if (std::exchange(seen[{left, right}], true)) return rules;
    rules.push_back({left, right, i, letters + i});
  }
  return rules;
}

PairMerges with_cuts(const std::vector<Rule>& rules, std::int32_t letters) {
  std::map<std::int32_t, PairMerges::Ends> ends;
  for (std::int32_t i = 0; i < letters; ++i) ends[i] = {i, i};
  for (const Rule& rule : rules) ends[rule.id] = {ends[rule.left].first, ends[rule.right].last};
  return PairMerges(rules, [&](std::int32_t id) { return ends[id]; });
}

}  // namespace

TEST_CASE("merging is what the definition says, for short and long runs, cut or not", "[text]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const auto letters = static_cast<std::int32_t>(2 + random.randint(4));
    const std::vector<Rule> rules = random_rules(random, letters, 12);
    const PairMerges cut = with_cuts(rules, letters), whole(rules, nullptr);
    MergeCache cache, other_cache;
    for (const Index length : {0, 1, 2, 7, 31, 32, 33, 200}) {
      TokenIds symbols, merged{-7}, uncut;
      for (Index i = 0; i < length; ++i) {
        symbols.push_back(static_cast<std::int32_t>(random.randint(letters)));
      }
      const TokenIds expected = by_definition(rules, symbols);
      cut.merge(symbols, merged, cache);
      whole.merge(symbols, uncut, other_cache);
      CHECK(merged.front() == -7);  // appended
      CHECK(TokenIds(merged.begin() + 1, merged.end()) == expected);
      CHECK(uncut == expected);
      const auto stages = cut.stages(symbols);
      CHECK((stages.empty() ? symbols : stages.back().ids) == expected);
    }
  }
}

TEST_CASE("a long run is merged by many rules as the definition says", "[text]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    std::vector<Rule> rules;
    for (std::int32_t id = 8; id < 60; ++id) {  // of younger and of older ones
      const auto left = static_cast<std::int32_t>(random.randint(id));
      const auto right = static_cast<std::int32_t>(random.randint(8));
      rules.push_back({left, right, static_cast<std::int32_t>(random.randint(1000)), id});
    }
    TokenIds symbols, ids;
    for (int i = 0; i < 500; ++i) symbols.push_back(static_cast<std::int32_t>(random.randint(8)));
    MergeCache cache;
    PairMerges(rules, nullptr).merge(symbols, ids, cache);
    std::vector<Rule> last;  // of those for one pair
    for (const Rule& rule : rules) {
      std::erase_if(last,
                    [&](const Rule& r) { return r.left == rule.left && r.right == rule.right; });
      last.push_back(rule);
    }
    CHECK(ids == by_definition(last, symbols));
  }
}

TEST_CASE("of equal ranks the leftmost pair is merged first", "[text]") {
  const std::vector<Rule> rules = {{0, 1, 5, 2}, {1, 0, 5, 3}};
  const PairMerges merges(rules, nullptr);
  MergeCache cache;
  TokenIds ids;
  merges.merge(TokenIds{1, 0, 1, 0}, ids, cache);
  CHECK(ids == TokenIds{3, 3});
}

TEST_CASE("of two rules for one pair the later one counts", "[text]") {
  const std::vector<Rule> rules = {{0, 1, 0, 2}, {0, 1, 1, 3}};
  const PairMerges merges(rules, nullptr);
  CHECK(merges.find(0, 1)->id == 3);
  CHECK(merges.find(1, 0) == nullptr);
  CHECK(PairMerges().find(0, 1) == nullptr);
}

TEST_CASE("pairs without a rule are found to have none, however many rules there are", "[text]") {
  for (const std::int32_t count : {1, 2, 8, 16, 64, 128}) {
    std::vector<Rule> rules;
    for (std::int32_t i = 0; i < count; ++i) rules.push_back({i, 7 * i, i, 1000 + i});
    const PairMerges merges(rules, [](std::int32_t id) { return PairMerges::Ends{id, id}; });
    for (std::int32_t i = 0; i < count; ++i) {
      REQUIRE(merges.find(i, 7 * i) != nullptr);
      CHECK(merges.find(i, 7 * i)->id == 1000 + i);
      CHECK(merges.find(i, 7 * i + 1) == nullptr);
    }
    TokenIds symbols, ids;
    for (std::int32_t i = 0; i < 40; ++i) symbols.push_back(2000 + i);
    MergeCache cache;
    merges.merge(symbols, ids, cache);
    CHECK(ids == symbols);
  }
}

TEST_CASE("the cache gives back what was added, and empties itself when it is full", "[text]") {
  constexpr std::int32_t most = 65'536;
  const auto symbols_of = [](std::int32_t i) { return i % 2 ? TokenIds{i} : TokenIds{i, i + 1}; };
  MergeCache cache;
  CHECK(!cache.find(TokenIds{1, 2}).has_value());
  for (std::int32_t i = 0; i < 200'000; ++i) {
    if (i % most == 0) CHECK(cache.find(symbols_of(i - most)).has_value() == (i > 0));
    cache.add(symbols_of(i), TokenIds{2 * i});
    const auto found = cache.find(symbols_of(i));
    REQUIRE(found.has_value());
    REQUIRE(TokenIds(found->begin(), found->end()) == TokenIds{2 * i});
    REQUIRE(cache.find(symbols_of(i - i % most / 2)).has_value());  // it only grew
    if (i % most == 0) CHECK(!cache.find(symbols_of(i - 1)).has_value());
  }
}

TEST_CASE("a million equal symbols are merged in n log n steps", "[text]") {
  const std::vector<Rule> rules = {{0, 0, 0, 1}, {1, 1, 1, 2}, {2, 2, 2, 3}};
  const PairMerges merges(rules, nullptr);
  MergeCache cache;
  TokenIds ids;
  merges.merge(TokenIds(1'000'001, 0), ids, cache);
  TokenIds expected(125'000, 3);
  expected.push_back(0);
  CHECK(ids == expected);
}
