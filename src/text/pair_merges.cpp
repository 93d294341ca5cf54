#include "text/pair_merges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace tapestry {
namespace {

constexpr std::size_t most_short = 32;  // symbols of a run that is kept in the cache
constexpr std::uint64_t no_key = ~std::uint64_t{0};
constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

std::uint64_t mixed(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0x9E3779B97F4A7C15;
  return key;
}

// For a table that is at most half full: its size is 2 to the power of 64 - shift.
int shift_for(std::size_t entries) { return 64 - std::bit_width(2 * entries + 1); }

std::size_t size_for(int shift) { return std::size_t{1} << (64 - shift); }

// A long run of symbols while it is merged. The pairs wait in a heap by rank and place; those that
// have changed meanwhile are passed over.
class LongRun {
 public:
  LongRun(const PairMerges& merges, std::span<const std::int32_t> symbols)
      : merges_(merges), list_(symbols.size()) {
    const auto count = static_cast<std::int32_t>(symbols.size());
    for (std::int32_t i = 0; i < count; ++i) {
      at(i) = {symbols[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1};
    }
    for (std::int32_t i = 0; i >= 0; i = at(i).next) wait(i);
    std::make_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  }

  void merge() {
    while (!waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
      const std::uint64_t top = waiting_.back();
      waiting_.pop_back();
      const auto place = static_cast<std::int32_t>(top & 0xFFFFFFFF);
      const PairMerges::Rule* rule = rule_at(place);
      if (rule && static_cast<std::uint64_t>(rule->rank) == top >> 32) apply(place, rule->id);
    }
  }

  void append_to(TokenIds& ids) const {
    for (const Symbol& each : list_) {
      if (each.id >= 0) ids.push_back(each.id);
    }
  }

 private:
  struct Symbol {
    std::int32_t id, before, next;  // before, next: places, or -1; id -1: merged away
  };

  Symbol& at(std::int32_t place) { return list_[static_cast<std::size_t>(place)]; }

  const PairMerges::Rule* rule_at(std::int32_t place) {
    const Symbol& left = at(place);
    return left.id < 0 || left.next < 0 ? nullptr : merges_.find(left.id, at(left.next).id);
  }

  bool wait(std::int32_t place) {
    const PairMerges::Rule* rule = rule_at(place);
    if (rule) waiting_.push_back(key_of(rule->rank, place));
    return rule != nullptr;
  }

  void wait_in_heap(std::int32_t place) {
    if (wait(place)) std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  }

  void apply(std::int32_t place, std::int32_t id) {
    Symbol& left = at(place);
    Symbol& right = at(left.next);
    left.id = id;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) at(left.next).before = place;
    if (left.before >= 0) wait_in_heap(left.before);
    wait_in_heap(place);
  }

  const PairMerges& merges_;
  std::vector<Symbol> list_;
  std::vector<std::uint64_t> waiting_;  // rank, then place
};

}  // namespace

PairMerges::PairMerges(std::span<const Rule> rules,
                       const std::function<Ends(std::int32_t)>& ends_of)
    : shift_(shift_for(rules.size())), cut_(static_cast<bool>(ends_of)) {
  rules_.assign(size_for(shift_), Rule{});
  neighbours_.assign(rules_.size(), no_key);
  const std::size_t mask = neighbours_.size() - 1;
  for (const Rule& rule : rules) {
    rules_[slot_of(rule.left, rule.right)] = rule;
    if (!cut_) continue;
    const std::uint64_t key = key_of(ends_of(rule.left).last, ends_of(rule.right).first);
    std::size_t slot = mixed(key) >> shift_;
    while (neighbours_[slot] != no_key && neighbours_[slot] != key) slot = (slot + 1) & mask;
    neighbours_[slot] = key;
  }
}

std::size_t PairMerges::slot_of(std::int32_t left, std::int32_t right) const {
  const std::size_t mask = rules_.size() - 1;
  std::size_t slot = mixed(key_of(left, right)) >> shift_;
  while (rules_[slot].left >= 0 && (rules_[slot].left != left || rules_[slot].right != right)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

const PairMerges::Rule* PairMerges::find(std::int32_t left, std::int32_t right) const {
  const Rule& rule = rules_[slot_of(left, right)];
  return rule.left >= 0 ? &rule : nullptr;
}

bool PairMerges::are_ever_joined(std::int32_t left, std::int32_t right) const {
  if (!cut_) return true;
  const std::uint64_t key = key_of(left, right);
  const std::size_t mask = neighbours_.size() - 1;
  std::size_t slot = mixed(key) >> shift_;
  while (neighbours_[slot] != no_key && neighbours_[slot] != key) slot = (slot + 1) & mask;
  return neighbours_[slot] == key;
}

// A long text is cut between symbols that no token has side by side: no merge reaches across.
void PairMerges::merge(std::span<const std::int32_t> symbols, TokenIds& ids,
                       MergeCache& cache) const {
  if (symbols.size() <= most_short) return merge_run(symbols, ids, cache);
  std::size_t begin = 0;
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    if (are_ever_joined(symbols[i - 1], symbols[i])) continue;
    merge_run(symbols.subspan(begin, i - begin), ids, cache);
    begin = i;
  }
  merge_run(symbols.subspan(begin), ids, cache);
}

void PairMerges::merge_run(std::span<const std::int32_t> symbols, TokenIds& ids,
                           MergeCache& cache) const {
  if (symbols.size() < 2) {
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  } else if (symbols.size() > most_short) {
    merge_long(symbols, ids);
  } else if (const auto found = cache.find(symbols)) {
    ids.insert(ids.end(), found->begin(), found->end());
  } else {
    const std::size_t begin = ids.size();
    merge_short(symbols, ids);
    cache.add(symbols, std::span(ids).subspan(begin));
  }
}

// Looks at all pairs for each merge: for few symbols nothing is faster.
void PairMerges::merge_short(std::span<const std::int32_t> symbols, TokenIds& ids) const {
  std::array<std::int32_t, most_short> tokens{};
  std::array<std::int32_t, most_short> ranks{};  // of the pair that begins there
  std::array<std::int32_t, most_short> merged{};
  std::size_t count = symbols.size();
  std::copy(symbols.begin(), symbols.end(), tokens.begin());
  const auto look = [&](std::size_t i) {
    const Rule* rule = i + 1 < count ? find(tokens[i], tokens[i + 1]) : nullptr;
    ranks[i] = rule ? rule->rank : no_rank;
    merged[i] = rule ? rule->id : -1;
  };
  for (std::size_t i = 0; i < count; ++i) look(i);
  while (true) {
    const auto best = std::min_element(ranks.begin(), ranks.begin() + static_cast<long>(count));
    if (*best == no_rank) break;
    const auto at = static_cast<std::size_t>(best - ranks.begin());
    tokens[at] = merged[at];
    --count;
    for (std::size_t i = at + 1; i < count; ++i) {
      tokens[i] = tokens[i + 1];
      ranks[i] = ranks[i + 1];
      merged[i] = merged[i + 1];
    }
    look(at);
    if (at != 0) look(at - 1);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + static_cast<long>(count));
}

void PairMerges::merge_long(std::span<const std::int32_t> symbols, TokenIds& ids) const {
  LongRun run(*this, symbols);
  run.merge();
  run.append_to(ids);
}

std::vector<PairMerges::Stage> PairMerges::stages(TokenIds ids) const {
  std::vector<Stage> stages;
  while (true) {
    const Rule* best = nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Rule* rule = find(ids[i], ids[i + 1]);
      if (!rule || (best && rule->rank >= best->rank)) continue;
      best = rule;
      at = i;
    }
    if (!best) return stages;
    ids[at] = best->id;
    ids.erase(ids.begin() + static_cast<long>(at) + 1);
    stages.push_back({*best, ids});
  }
}

std::size_t MergeCache::slot_of(std::uint64_t hash, std::span<const std::int32_t> symbols) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].symbols > 0; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && slot.symbols == symbols.size() &&
        std::equal(symbols.begin(), symbols.end(), ids_.begin() + slot.begin)) {
      break;
    }
  }
  return at;
}

namespace {

std::uint64_t hash_of(std::span<const std::int32_t> symbols) {
  std::uint64_t hash = symbols.size();
  for (const std::int32_t symbol : symbols) {
    hash = (hash ^ static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

std::optional<std::span<const std::int32_t>> MergeCache::find(
    std::span<const std::int32_t> symbols) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(hash_of(symbols), symbols)];
  if (slot.symbols == 0) return std::nullopt;
  return std::span(ids_).subspan(slot.begin + slot.symbols, slot.merged);
}

void MergeCache::add(std::span<const std::int32_t> symbols, std::span<const std::int32_t> merged) {
  constexpr std::size_t least = 1 << 8, most = 1 << 17;
  if (2 * (filled_ + 1) > slots_.size()) {
    std::vector<Slot> old = std::exchange(slots_, {});
    slots_.resize(std::clamp(2 * old.size(), least, most));
    if (old.size() == most) {  // full
      old.clear();
      ids_.clear();
      filled_ = 0;
    }
    for (const Slot& slot : old) {
      if (slot.symbols == 0) continue;
      slots_[slot_of(slot.hash, std::span(ids_).subspan(slot.begin, slot.symbols))] = slot;
    }
  }
  const std::uint64_t hash = hash_of(symbols);
  Slot& slot = slots_[slot_of(hash, symbols)];
  slot = {hash, static_cast<std::uint32_t>(ids_.size()), static_cast<std::uint16_t>(symbols.size()),
          static_cast<std::uint16_t>(merged.size())};
  ids_.insert(ids_.end(), symbols.begin(), symbols.end());
  ids_.insert(ids_.end(), merged.begin(), merged.end());
  ++filled_;
}

}  // namespace tapestry
