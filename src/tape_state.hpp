// What a tape holds while it records. Shared by the files that implement Tape.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/tape.hpp"

namespace tapestry {

struct Tape::Record {
  const char* operation;
  Shape shape;
  Backward backward;
  std::size_t first_input;  // in State::inputs
  std::size_t input_count;
  std::size_t saved_bytes;
};

struct Tape::State {
  using ByBuffer = std::vector<std::pair<const void*, std::size_t>>;  // sorted
  static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

  std::uint64_t serial = new_serial();
  Keep keep = Keep::only_what_is_needed;
  bool walked = false;
  std::vector<Record> records;        // the watched tensors first
  std::vector<std::uint32_t> inputs;  // record numbers, or `nothing` for what is not recorded
  std::vector<Tensor> gradients;      // by record, while walking
  std::vector<Tensor> watched;
  ByBuffer watched_at;  // record number by buffer
  std::map<std::size_t, std::string> labels;
  std::vector<Tensor> values;          // by record, with Keep::values
  std::vector<Tensor> kept_gradients;  // likewise

  // Of a part that is to be computed again on the way back (tape_checkpoint.cpp): the tape that it
  // is a part of, and that tape's records which were read, with their numbers here.
  State* whole = nullptr;
  bool forgets = false;  // records what depends on what, and saves nothing
  std::map<std::uint32_t, std::uint32_t> borrowed;
  std::vector<std::uint64_t> parts;  // serials of all parts, of parts too; the outermost has them

  std::uint32_t node_of(const Tensor& tensor);
  std::uint32_t borrow(const Tensor& tensor);
  void announce();
  std::uint32_t push(const char* operation, const Shape& shape, Backward backward,
                     std::size_t first_input, std::size_t saved_bytes);  // inputs up to the last
  void walk();  // from the gradients that are there
  void clear();

  static std::uint64_t new_serial();
  // The state that records on this thread, or null. Ask by current(), which notices when the tape
  // died on another thread: `held` keeps its state alive until then.
  static State* current();
  static void stop_recording();
  struct Held {
    std::shared_ptr<State> state;
    ~Held() { stop_recording(); }
  };
  static thread_local State* recording;
  static thread_local Held held;
  static thread_local std::shared_ptr<State> spare;  // empty, but with its capacity
  static thread_local std::size_t pending_bytes;     // saved for the record that comes next
};

}  // namespace tapestry
