#include "distributed/exchange.hpp"

#include <array>

#include "distributed/tags.hpp"
#include "tapestry/real.hpp"

namespace tapestry {

template <class Number>
std::vector<Message> begin_gather(Ranks& ranks, std::span<Number> all,
                                  const std::vector<Range>& parts, int tag) {
  const auto part = [&](int rank) {
    const Range& range = parts[static_cast<std::size_t>(rank)];
    return all.subspan(static_cast<std::size_t>(range.first),
                       static_cast<std::size_t>(range.count()));
  };
  std::vector<Message> messages;
  for (int hop = 1; hop < ranks.size(); ++hop) {  // not all to rank 0 first
    const int from = (ranks.rank() + ranks.size() - hop) % ranks.size();
    messages.push_back(ranks.receive(from, tag, std::as_writable_bytes(part(from))));
  }
  for (int hop = 1; hop < ranks.size(); ++hop) {
    const int to = (ranks.rank() + hop) % ranks.size();
    messages.push_back(ranks.send(to, tag, std::as_bytes(part(ranks.rank()))));
  }
  return messages;
}

template <class Number>
void gather(Ranks& ranks, std::span<Number> all, const std::vector<Range>& parts, int tag) {
  for (Message& message : begin_gather(ranks, all, parts, tag)) ranks.wait(message);
}

template std::vector<Message> begin_gather(Ranks&, std::span<std::array<double, 2>>,
                                           const std::vector<Range>&, int);
template void gather(Ranks&, std::span<real>, const std::vector<Range>&, int);
#ifndef TAPESTRY_F64
template void gather(Ranks&, std::span<double>, const std::vector<Range>&, int);
#endif

std::string text_of(Ranks& ranks, int from, const std::string& text) {
  std::string shared = text;
  std::size_t size = text.size();
  std::vector<Message> messages;
  const auto send_to_all = [&](std::span<const std::byte> bytes) {
    for (int to = 0; to < ranks.size(); ++to) {
      if (to != from) messages.push_back(ranks.send(to, tags::words, bytes));
    }
  };
  const auto receive = [&](std::span<std::byte> bytes) {
    Message message = ranks.receive(from, tags::words, bytes);
    ranks.wait(message);
  };
  if (ranks.rank() == from) {
    send_to_all(bytes_of(std::as_const(size)));
    send_to_all(std::as_bytes(std::span(text)));
    for (Message& message : messages) ranks.wait(message);
  } else {
    receive(bytes_of(size));
    shared.resize(size);
    receive(std::as_writable_bytes(std::span(shared)));
  }
  return shared;
}

}  // namespace tapestry
