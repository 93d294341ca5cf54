// A rank that takes part in a sum over all ranks: a vector, messages with parts of it, and a
// simulated clock. For step 80.
#pragma once

#include <cstddef>
#include <vector>

#include "course/network_link.hpp"
#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Numbers [first, last) of a vector, which one rank sent to another.
struct Sent {
  int from, to;
  std::size_t first, last;

  bool operator==(const Sent&) const = default;
};

// What a rank sent in a step, and what it then has, if these are at most 4 numbers.
struct SumStep {
  std::vector<Sent> sent = {};
  std::vector<float> after = {};
};

// What a rank did.
struct SumRecord {
  std::vector<float> numbers;  // its own at first, the sum at last
  double clock = 0;            // when it had the last of them, in simulated seconds
  int messages = 0;            // that it sent, and their bytes
  double bytes = 0;
  std::vector<SumStep> steps = {};  // the first one: before all messages
};

// By the simulated clock each rank takes link.seconds(bytes) for a message, sends one message at a
// time and receives one at a time. Computing takes no time. When a message will have arrived is
// sent in front of it.
class SumRank : public SumRecord {
 public:
  // Begins with numbers 2^rank, so that a sum tells which ranks are in it.
  SumRank(Ranks& all, NetworkLink link, std::size_t count);

  // Sends numbers [first, last) to a rank, which must call receive; returns when they are sent.
  void send(int to, std::size_t first, std::size_t last);

  // Waits for so many numbers from that rank, and returns them.
  std::vector<float> receive(int from, std::size_t count);

  // Adds others to the numbers from `first` on, or replaces these.
  void add(const std::vector<float>& other, std::size_t first);
  void put(const std::vector<float>& other, std::size_t first);

  // Of steps that follow each other; to be called at the end of each, on all ranks.
  void end_step();

  Ranks& ranks;  // must stay as long as this

 private:
  NetworkLink link_;
  double out_free_ = 0, in_free_ = 0;  // when the link takes the next message
  SumStep now_ = {};
};

}  // namespace tapestry
