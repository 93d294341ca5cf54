#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>

#include "tapestry/error.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "text/byte_letters.hpp"
#include "text/split_patterns.hpp"

namespace tapestry {
namespace {

using Counts = std::unordered_map<std::string_view, std::int64_t>;

void count_pieces(std::string_view text, Counts& counts) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = piece_end(gpt2_pattern, text, at);
    ++counts[text.substr(at, end - at)];
    at = end;
  }
}

Counts count_all_pieces(std::string_view text) {
  constexpr std::string_view border = "<|endoftext|>";
  Counts counts;
  while (true) {
    const std::size_t end = std::min(text.find(border), text.size());
    count_pieces(text.substr(0, end), counts);
    if (end == text.size()) return counts;
    text.remove_prefix(end + border.size());
  }
}

// All different pieces, with how often each stands in the text. Pairs are counted once; then each
// merge changes only the counts of the pairs beside it.
class Training {
 public:
  explicit Training(const Counts& pieces) {
    for (const unsigned char byte : bytes_by_letter()) {
      add_token(std::string(1, static_cast<char>(byte)));
    }
    std::size_t bytes = 0;
    for (const auto& [piece, count] : pieces) bytes += piece.size();
    if (bytes > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw Error("learn_byte_pairs: the text has more than 2 GB of different pieces. Cut it.");
    }
    symbols_.reserve(bytes);
    for (const auto& [piece, count] : pieces) add_piece(piece, count);
    for (const auto& [key, pair] : pairs_) waiting_.push({pair.count, key});
  }

  // False if no pair stands twice.
  bool merge_most_frequent(std::vector<BytePair>& merges) {
    while (!waiting_.empty() && waiting_.top().count > 1) {
      const Waiting top = waiting_.top();
      waiting_.pop();
      const auto found = pairs_.find(top.key);
      if (found == pairs_.end()) continue;
      if (found->second.count != top.count) {  // it has become rarer meanwhile
        waiting_.push({found->second.count, top.key});
        continue;
      }
      merges.emplace_back(tokens_[left_of(top.key)], tokens_[right_of(top.key)]);
      merge(top.key, std::move(pairs_.extract(found).mapped().places));
      return true;
    }
    return false;
  }

 private:
  using Place = std::int32_t;  // in symbols_
  struct Symbol {
    std::int32_t token;    // -1: merged into the one before
    Place before, behind;  // -1: none in this piece
    std::int32_t piece;
  };
  struct Pair {
    std::int64_t count = 0;
    std::vector<Place> places = {};  // of its left symbol; some may be out of date
  };
  struct Waiting {
    std::int64_t count;
    std::uint64_t key;
    // The last in this order is taken first: the highest count, then the lowest key.
    bool operator<(const Waiting& other) const {
      return count != other.count ? count < other.count : key > other.key;
    }
  };

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }
  static std::size_t left_of(std::uint64_t key) { return key >> 32; }
  static std::size_t right_of(std::uint64_t key) { return key & 0xFFFFFFFF; }
  Symbol& at(Place place) { return symbols_[static_cast<std::size_t>(place)]; }

  std::int32_t add_token(const std::string& token) {
    const auto [found, is_new] = ids_.emplace(token, static_cast<std::int32_t>(tokens_.size()));
    if (is_new) tokens_.push_back(token);
    return found->second;
  }

  void add_piece(std::string_view piece, std::int64_t count) {
    const auto number = static_cast<std::int32_t>(counts_.size());
    counts_.push_back(count);
    const auto first = static_cast<Place>(symbols_.size());
    const auto end = first + static_cast<Place>(piece.size());
    for (const char byte : piece) {
      const auto place = static_cast<Place>(symbols_.size());
      symbols_.push_back({ids_.at(std::string(1, byte)), place > first ? place - 1 : -1,
                          place + 1 < end ? place + 1 : -1, number});
      if (place > first) count_pair(place - 1, count);
    }
  }

  // A pair has come to stand at this place.
  std::uint64_t count_pair(Place place, std::int64_t count) {
    const std::uint64_t key = key_of(at(place).token, at(at(place).behind).token);
    Pair& pair = pairs_[key];
    pair.count += count;
    pair.places.push_back(place);
    return key;
  }

  void forget_pair(std::int32_t left, std::int32_t right, std::int64_t count) {
    const auto found = pairs_.find(key_of(left, right));
    if (found == pairs_.end()) return;  // it is the pair that is being merged
    found->second.count -= count;
    if (found->second.count == 0) pairs_.erase(found);
  }

  void merge(std::uint64_t key, std::vector<Place> places) {
    const std::size_t left = left_of(key), right = right_of(key);
    const std::int32_t token = add_token(tokens_[left] + tokens_[right]);
    std::sort(places.begin(), places.end());
    std::vector<std::uint64_t> grown;
    for (const Place place : places) {
      const Place behind = at(place).behind;
      if (at(place).token != static_cast<std::int32_t>(left) || behind < 0 ||
          at(behind).token != static_cast<std::int32_t>(right)) {
        continue;
      }
      merge_at(place, token, grown);
    }
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const std::uint64_t each : grown) {
      const auto found = pairs_.find(each);
      if (found != pairs_.end()) waiting_.push({found->second.count, each});
    }
  }

  void merge_at(Place place, std::int32_t token, std::vector<std::uint64_t>& grown) {
    Symbol& left = at(place);
    Symbol& right = at(left.behind);
    const std::int64_t count = counts_[static_cast<std::size_t>(left.piece)];
    if (left.before >= 0) forget_pair(at(left.before).token, left.token, count);
    if (right.behind >= 0) forget_pair(right.token, at(right.behind).token, count);
    left.token = token;
    left.behind = right.behind;
    right.token = -1;
    if (left.before >= 0) grown.push_back(count_pair(left.before, count));
    if (left.behind >= 0) {
      at(left.behind).before = place;
      grown.push_back(count_pair(place, count));
    }
  }

  std::vector<std::string> tokens_;  // as bytes
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Symbol> symbols_;
  std::vector<std::int64_t> counts_;  // of each piece
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<Waiting> waiting_;  // no count is lower than the pair's own
};

}  // namespace

std::vector<BytePair> learn_byte_pairs(std::string_view text, Index count) {
  if (count < 0) {
    throw Error("learn_byte_pairs: " + std::to_string(count) + " merges: it must be 0 or more.");
  }
  std::vector<BytePair> merges;
  Training training(count_all_pieces(text));
  while (static_cast<Index>(merges.size()) < count && training.merge_most_frequent(merges)) {
  }
  return merges;
}

}  // namespace tapestry
