// Ranks over a slower link than they have: to see what a network would cost.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "course/network_link.hpp"
#include "course/timing.hpp"
#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Ranks over a slower link: a message arrives when that link would have brought it. The time when
// that is travels in front of the message. Bytes follow each other; the latency of several messages
// passes at once, as on a long cable.
class Delayed : public Ranks {
 public:
  Delayed(Ranks& ranks, NetworkLink link) : ranks_(ranks), link_(link) {}

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void poll() override { ranks_.poll(); }
  void enter(Index step, const char* operation) override { ranks_.enter(step, operation); }

  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    double& free = free_[to];  // when the link to that rank takes the next byte
    free = std::max(free, now()) + double(bytes.size()) / link_.bandwidth;
    Pending p{.arrival = std::make_unique<double>(free + link_.latency)};
    p.time = ranks_.send(to, tag + in_front, bytes_of(std::as_const(*p.arrival)));
    p.data = ranks_.send(to, tag, bytes);
    return keep(std::move(p));
  }
  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    Pending p{.arrival = std::make_unique<double>(0), .is_received = true};
    p.time = ranks_.receive(from, tag + in_front, bytes_of(*p.arrival));
    p.data = ranks_.receive(from, tag, bytes);
    return keep(std::move(p));
  }
  bool done(Message& message) override {
    if (message.number == 0) return true;
    Pending& p = pending_.at(message.number);
    const bool here = ranks_.done(p.time) && ranks_.done(p.data);
    if (!here || (p.is_received && now() < *p.arrival)) return false;
    pending_.erase(message.number), message = {};
    return true;
  }
  void wait(Message& message) override {
    if (message.number == 0) return;
    Pending& p = pending_.at(message.number);
    ranks_.wait(p.time), ranks_.wait(p.data);
    const double left = p.is_received ? *p.arrival - now() : 0;
    if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
    pending_.erase(message.number), message = {};
  }

 private:
  static constexpr int in_front = 10000;  // added to a tag: that of the time
  struct Pending {
    std::unique_ptr<double> arrival;
    bool is_received = false;
    Message time = {}, data = {};
  };
  Message keep(Pending pending) {
    pending_.emplace(++last_, std::move(pending));
    return {last_};
  }

  Ranks& ranks_;
  NetworkLink link_;
  std::map<int, double> free_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_ = 0;
};

}  // namespace tapestry
