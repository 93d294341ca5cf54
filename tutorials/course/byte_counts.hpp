// A model of text without any learning by gradients: how often each byte followed the bytes before
// it. A baseline for what a network has to beat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tapestry {

// Predicts a byte from the `order` bytes before it (0: from none). Counts of long contexts are
// rare, so each is mixed with the prediction of the context that is one byte shorter, down to 1 /
// 256 for each byte (Witten, Bell 1991): a context seen n times, with t different bytes behind it,
// has the share n / (n + t).
class ByteCounts {
 public:
  // Throws Error unless order is 0 to 6.
  ByteCounts(std::string_view text, int order);

  // -log2 of the probability that this text follows nothing, per byte; NaN for none.
  double bits_per_byte(std::string_view text) const;

  // How many counts there are: one for each context and byte behind it that stand in the text.
  std::size_t size() const { return counts_.size(); }

 private:
  struct Context {
    double seen = 0, different = 0;  // bytes behind it
  };

  std::unordered_map<std::uint64_t, Context> contexts_;
  std::unordered_map<std::uint64_t, double> counts_;  // of a context and the byte behind it
  int order_;
};

}  // namespace tapestry
