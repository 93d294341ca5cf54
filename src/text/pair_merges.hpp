// The core of byte-pair encoding: neighbours are merged, again and again, the pair of the lowest
// rank first, of equal ones the leftmost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tapestry {

using TokenIds = std::vector<std::int32_t>;

// Symbols (tokens that nothing has merged yet) of short runs that were merged before, and what
// became of them. It is emptied when it is full.
class MergeCache {
 public:
  // Nothing if they are not in it.
  std::optional<std::span<const std::int32_t>> find(std::span<const std::int32_t> symbols) const;
  void add(std::span<const std::int32_t> symbols, std::span<const std::int32_t> merged);

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0;
    std::uint16_t symbols = 0, merged = 0;  // both are in ids_ from `begin` on; 0: an empty slot
  };
  std::size_t slot_of(std::uint64_t hash, std::span<const std::int32_t> symbols) const;

  std::vector<Slot> slots_;  // a power of two, or none
  TokenIds ids_;
  std::size_t filled_ = 0;
};

class PairMerges {
 public:
  struct Rule {
    std::int32_t left = -1, right = 0;  // the pair
    std::int32_t rank = 0, id = 0;      // of the token that it becomes
  };
  struct Ends {
    std::int32_t first, last;  // symbols; -1: the token can never be made
  };

  PairMerges() : PairMerges({}, nullptr) {}  // merges nothing
  // Of two rules for one pair the later one counts. `ends_of` gives the first and last symbol of a
  // token of a rule; without it texts are not cut before they are merged, which takes longer.
  PairMerges(std::span<const Rule> rules, const std::function<Ends(std::int32_t)>& ends_of);

  // Appends what the symbols become. Takes n log(n) steps at most.
  void merge(std::span<const std::int32_t> symbols, TokenIds& ids, MergeCache& cache) const;

  // The merges one by one: after each, all tokens that there are then, and the rule.
  struct Stage {
    Rule rule;
    TokenIds ids;
  };
  std::vector<Stage> stages(TokenIds ids) const;

  const Rule* find(std::int32_t left, std::int32_t right) const;

 private:
  bool are_ever_joined(std::int32_t left, std::int32_t right) const;
  void merge_run(std::span<const std::int32_t> symbols, TokenIds& ids, MergeCache& cache) const;
  void merge_short(std::span<const std::int32_t> symbols, TokenIds& ids) const;
  void merge_long(std::span<const std::int32_t> symbols, TokenIds& ids) const;
  std::size_t slot_of(std::int32_t left, std::int32_t right) const;

  std::vector<Rule> rules_;                // a hash table: left -1 is an empty slot
  std::vector<std::uint64_t> neighbours_;  // of symbols in some token; a hash table likewise
  int shift_;                              // for both
  bool cut_;
};

}  // namespace tapestry
