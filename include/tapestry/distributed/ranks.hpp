// Ranks: workers that do one job together, each with a share of it, and send each other messages.
//
//   run_as_threads(4, [](Ranks& ranks) {                  // four ranks in this process: to learn
//     float mine = float(ranks.rank()), other = 0;        // and to test
//     Message sent = ranks.send(ranks.next(), 1, bytes_of(mine));
//     Message got = ranks.receive(ranks.previous(), 1, bytes_of(other));
//     ranks.wait(sent), ranks.wait(got);
//   });
//
// Processes, of one machine or of many, are ranks through MPI: distributed/mpi.hpp. What is built
// from messages (sums, training, ring attention) asks for a Ranks& and knows neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tapestry/real.hpp"

namespace tapestry {

// A message under way, of the rank that began it. What it reads or fills must stay until wait()
// or done() has ended it.
struct Message {
  std::uint64_t number = 0;  // 0: none, or ended
};

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;  // 0 .. size() - 1
  virtual int size() const = 0;
  [[nodiscard]] int next() const { return (rank() + 1) % size(); }  // on the ring of all ranks
  [[nodiscard]] int previous() const { return (rank() + size() - 1) % size(); }

  // Begins to send bytes to rank `to`, or to receive as many from rank `from`. Messages between two
  // ranks with one tag arrive in their order. A rank may send to itself. Throws Error for a rank
  // that does not exist and a negative tag.
  virtual Message send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual Message receive(int from, int tag, std::span<std::byte> bytes) = 0;

  // Whether the message has ended; never waits. Ended ones, and none, are done. Throws Error when
  // the other rank has sent another number of bytes.
  virtual bool done(Message& message) = 0;

  // Returns when the message has ended. Throws Error when the other rank has sent another number of
  // bytes, and when it is a thread that has ended without sending, or any thread has failed. Where
  // ranks are processes, all end when it has given no sign of life for a while; threads that wait
  // for each other do so for ever. The line names that rank, and the step and operation of both as
  // far as they are known.
  virtual void wait(Message& message) = 0;

  // Lets messages travel, and answers ranks that ask for a sign of life. Cheap; to be called by
  // whoever computes for long without operations on tensors, between which it is done anyway.
  virtual void poll() {}

  // What this rank is about to do, for lines about faults. `operation` must be a literal.
  virtual void enter(Index step, const char* operation) = 0;
};

template <class Number>
[[nodiscard]] std::span<const std::byte> bytes_of(const Number& number) {
  return std::as_bytes(std::span(&number, 1));
}
template <class Number>
[[nodiscard]] std::span<std::byte> bytes_of(Number& number) {
  return std::as_writable_bytes(std::span(&number, 1));
}

// One rank alone: size() is 1.
[[nodiscard]] Ranks& alone();

// Calls work on `count` threads of this process, each with a Ranks of its own, and returns when all
// have ended. Rethrows what the first of them threw; the others' waits then end with an Error. For
// lessons and tests: threads share the processors that one process would use.
// Throws Error unless count is in 1 .. 1024, and where fewer threads can be started.
void run_as_threads(int count, const std::function<void(Ranks&)>& work);

}  // namespace tapestry
