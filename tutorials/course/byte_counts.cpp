#include "course/byte_counts.hpp"

#include <cmath>
#include <string>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

// `length` bytes up to `end`, and how many there are.
std::uint64_t key_of(std::string_view text, std::size_t end, int length) {
  std::uint64_t key = 1;  // before the first byte, so that zeros count
  for (std::size_t i = end - static_cast<std::size_t>(length); i < end; ++i) {
    key = key << 8 | static_cast<unsigned char>(text[i]);
  }
  return key;
}

}  // namespace

ByteCounts::ByteCounts(std::string_view text, int order) : order_(order) {
  if (order < 0 || order > 6) {
    throw Error("ByteCounts: the order is " + std::to_string(order) + ": it must be 0 to 6.");
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int length = 0; length <= order && static_cast<std::size_t>(length) <= at; ++length) {
      Context& context = contexts_[key_of(text, at, length)];
      double& count = counts_[key_of(text, at + 1, length + 1)];
      context.different += count == 0;
      ++context.seen;
      ++count;
    }
  }
}

double ByteCounts::bits_per_byte(std::string_view text) const {
  double bits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    double probability = 1.0 / 256;
    for (int length = 0; length <= order_ && static_cast<std::size_t>(length) <= at; ++length) {
      const auto context = contexts_.find(key_of(text, at, length));
      if (context == contexts_.end()) break;
      const auto count = counts_.find(key_of(text, at + 1, length + 1));
      const auto& [seen, different] = context->second;
      const double often = count == counts_.end() ? 0 : count->second;
      probability = (often + different * probability) / (seen + different);
    }
    bits -= std::log2(probability);
  }
  return bits / static_cast<double>(text.size());
}

}  // namespace tapestry
