#include "tapestry/distributed/agreement.hpp"

#include <algorithm>
#include <cstdint>

#include "distributed/tags.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

void send_text(Ranks& ranks, int to, const std::string& text) {
  const std::uint64_t length = text.size();
  Message first = ranks.send(to, tags::agreement, bytes_of(length));
  Message second = ranks.send(to, tags::agreement, std::as_bytes(std::span(text)));
  ranks.wait(first), ranks.wait(second);
}

std::string receive_text(Ranks& ranks, int from) {
  std::uint64_t length{};
  Message first = ranks.receive(from, tags::agreement, bytes_of(length));
  ranks.wait(first);
  std::string text(length, '\0');
  Message second = ranks.receive(from, tags::agreement, std::as_writable_bytes(std::span(text)));
  ranks.wait(second);
  return text;
}

// "name\0value\0" and so on.
std::string packed(const std::vector<Trait>& traits) {
  std::string all;
  for (const Trait& trait : traits) all += trait.name + '\0' + trait.value + '\0';
  return all;
}

std::vector<Trait> unpacked(const std::string& text) {
  std::vector<Trait> traits;
  const auto word = [&](std::size_t& at) {
    const std::size_t end = text.find('\0', at), begin = at;
    at = end + 1;
    return text.substr(begin, end - begin);
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string name = word(at);
    traits.push_back({name, word(at)});
  }
  return traits;
}

std::string value_of(const std::vector<Trait>& traits, const std::string& name) {
  for (const Trait& trait : traits) {
    if (trait.name == name) return in_quotes(trait.value);
  }
  return "missing";
}

// "" if they are the same.
std::string difference(const std::vector<Trait>& first, const std::vector<Trait>& other, int rank) {
  for (const auto* const list : {&first, &other}) {
    for (const Trait& trait : *list) {
      const std::string a = value_of(first, trait.name), b = value_of(other, trait.name);
      if (a == b) continue;
      return "ranks differ: " + trait.name + " is " + a + " on rank 0, but " + b + " on rank " +
             std::to_string(rank) + ". All ranks must be started alike.";
    }
  }
  return "";
}

}  // namespace

void check_alike(Ranks& ranks, const std::vector<Trait>& traits) {
  std::string verdict;
  if (ranks.rank() != 0) {
    send_text(ranks, 0, packed(traits));
    verdict = receive_text(ranks, 0);
  } else {
    for (int other = 1; other < ranks.size(); ++other) {
      const std::string found = difference(traits, unpacked(receive_text(ranks, other)), other);
      if (verdict.empty()) verdict = found;
    }
    for (int other = 1; other < ranks.size(); ++other) send_text(ranks, other, verdict);
  }
  if (!verdict.empty()) throw Error(verdict);
}

Index largest_of_all(Ranks& ranks, Index mine) {
  const auto exchange = [&](Message message) { ranks.wait(message); };
  const int rank = ranks.rank(), size = ranks.size();
  int step = 1;  // up a tree whose root is rank 0, and down again
  for (; step < size && rank % (2 * step) == 0; step *= 2) {
    if (rank + step >= size) continue;
    Index other{};
    exchange(ranks.receive(rank + step, tags::agreement, bytes_of(other)));
    mine = std::max(mine, other);
  }
  if (rank != 0) {
    exchange(ranks.send(rank - step, tags::agreement, bytes_of(mine)));
    exchange(ranks.receive(rank - step, tags::agreement, bytes_of(mine)));
  }
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step < size) exchange(ranks.send(rank + step, tags::agreement, bytes_of(mine)));
  }
  return mine;
}

}  // namespace tapestry
