// Ranks whose messages do no more than they must, and which keep what was asked of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Passes everything on, but late: what is sent leaves when this rank waits for something, and what
// has come is there when it was waited for.
class LateRanks final : public Ranks {
 public:
  explicit LateRanks(Ranks& ranks) : ranks_(ranks) {}

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }

  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    const Message message = begin();
    sent_[message.number] = {to, tag, bytes};
    bytes_sent += bytes.size();
    ++lines[{to, tag}];
    return message;
  }
  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    const Message message = begin();
    Received& one = received_[message.number];
    one.bytes = bytes;
    one.came.resize(bytes.size());
    one.message = ranks_.receive(from, tag, one.came);
    return message;
  }
  bool done(Message& message) override {
    if (sent_.count(message.number) > 0) return false;
    const auto found = received_.find(message.number);
    if (found != received_.end() && !ranks_.done(found->second.message)) return false;
    end(message);
    return true;
  }
  void wait(Message& message) override {
    if (message.number == 0) return;
    for (const auto& [number, one] : std::exchange(sent_, {})) {
      ranks_.send(one.to, one.tag, one.bytes);
    }
    const auto found = received_.find(message.number);
    if (found != received_.end()) ranks_.wait(found->second.message);
    end(message);
  }
  void poll() override {
    ++polls;
    ranks_.poll();
  }
  void enter(Index step, const char* operation) override {
    entered.push_back(std::to_string(step) + " " + operation);
    ranks_.enter(step, operation);
  }

  std::size_t begun() const { return messages_; }
  std::size_t left() const { return under_way_.size(); }  // that nobody has waited for

  std::size_t bytes_sent = 0, polls = 0;
  std::map<std::pair<int, int>, int> lines;  // messages to each rank with each tag
  std::vector<std::string> entered;

 private:
  struct Sent {
    int to, tag;
    std::span<const std::byte> bytes;
  };
  struct Received {
    std::span<std::byte> bytes;
    std::vector<std::byte> came;
    Message message;
  };

  Message begin() {
    under_way_.insert(++messages_);
    return {messages_};
  }
  void end(Message& message) {
    if (const auto found = received_.find(message.number); found != received_.end()) {
      const Received& one = found->second;
      std::copy(one.came.begin(), one.came.end(), one.bytes.begin());
      received_.erase(found);
    }
    under_way_.erase(message.number);
    message = {};
  }

  Ranks& ranks_;
  std::size_t messages_ = 0;
  std::map<std::uint64_t, Sent> sent_;  // that have not left, in their order
  std::map<std::uint64_t, Received> received_;
  std::set<std::uint64_t> under_way_;
};

// Calls work on `count` threads. How many messages were begun in all, and how many were left.
struct LateMessages {
  std::size_t begun = 0, left = 0;
  bool operator==(const LateMessages&) const = default;
};

inline LateMessages run_late(int count, const std::function<void(LateRanks&)>& work) {
  std::vector<LateMessages> of_rank(static_cast<std::size_t>(count));
  run_as_threads(count, [&](Ranks& threads) {
    LateRanks ranks(threads);
    work(ranks);
    of_rank[static_cast<std::size_t>(ranks.rank())] = {ranks.begun(), ranks.left()};
  });
  LateMessages all;
  for (const LateMessages& one : of_rank) all = {all.begun + one.begun, all.left + one.left};
  return all;
}

}  // namespace tapestry
