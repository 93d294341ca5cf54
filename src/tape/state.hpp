// The state of a tape while it records. Shared by the files that implement Tape.
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
  std::size_t first_input = 0;  // in State::inputs
  std::size_t input_count = 0;
  std::size_t saved_bytes = 0;
};

// Of tensors that own their numbers: a record number for each buffer.
struct Tape::ByBuffer {
  std::vector<std::pair<const void*, std::size_t>> entries;  // sorted
  const std::size_t* find(const Tensor& tensor) const;       // null: not there
  void insert(const Tensor& tensor, std::size_t node);
};

struct Tape::State {
  static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

  State() : serial(new_serial()) {}

  // ---- the tape: tape.cpp
  std::uint64_t serial;
  bool ran_backward = false;
  std::vector<Record> records;        // the watched tensors first
  std::vector<std::uint32_t> inputs;  // record numbers, or `nothing` for what is not recorded
  std::vector<Tensor> gradients;      // by record, in the backward pass
  std::vector<Tensor> watched;
  ByBuffer watched_at;

  std::uint32_t node_of(const Tensor& tensor);
  std::uint32_t input(std::size_t record, std::size_t i) const {
    return inputs[records[record].first_input + i];
  }
  void push(Record record, const Tensor& output);  // its inputs are pushed before
  static void count_saved(Record& record, const Tensor& output);
  void run_backward();
  void call_backward(std::size_t i);
  Gradients gradients_of_watched();

  // ---- for inspection: table.cpp, non_finite.cpp, steps.cpp
  Keep keep = Keep::only_what_is_needed;
  std::map<std::size_t, std::string> labels;
  std::vector<Tensor> values;                           // by record, with Keep::values
  std::vector<Tensor> kept_gradients;                   // likewise
  std::vector<Contribution> contributions;              // likewise, in the order they were made
  std::vector<std::pair<std::size_t, Tensor>> buffers;  // likewise: of the record's inputs, by
                                                        // gradient_buffer; added when it ends
  Tensor buffer_of(std::size_t input, const Shape& shape);

  // ---- who is called during the backward pass: listener.cpp
  BackwardListener* listener = nullptr;                          // null: none
  std::vector<std::pair<std::size_t, std::size_t>> complete_at;  // record, watched tensor; sorted
  void find_complete();
  void call_listener(std::size_t record);

  // ---- a child tape: checkpoint.cpp
  Child* child = nullptr;               // null: not a child
  bool discard_backward = false;        // records dependencies only
  std::vector<std::uint64_t> children;  // of the outermost tape: serials of all tapes below it
  std::uint32_t import_node(const Tensor& tensor);

  // ---- Errors, each with a way out: refusals.cpp
  void refuse_to_watch(const Tensor& tensor) const;
  bool is_made_in_part(const Tensor& tensor) const;
  void refuse_made_in_part(const Tensor& tensor) const;
  static bool is_earlier_view(const Tensor& view, const Tensor& watched);
  static void refuse_earlier_view(const Tensor& view, const Tensor& watched);
  void refuse_more_records() const;
  static void refuse_loss(const Tensor& loss);
  void refuse_backward(const Tensor& y, const Tensor& seed) const;
  [[noreturn]] static void refuse_constant(const Tensor& y);
  void refuse_changed(std::size_t record, const Backward& backward) const;

  // ---- which one records on this thread, or null: recording.cpp. Ask by current(), which throws
  // when the tape was destroyed on another thread: `held` keeps its state until then.
  static std::uint64_t new_serial();
  static State* current();
  static void stop_recording();
  void clear();
  struct Held {
    std::shared_ptr<State> state;
    ~Held() { stop_recording(); }
  };
  static thread_local State* recording;
  static thread_local Held held;
  static thread_local std::shared_ptr<State> spare;  // empty, but with its capacity
};

}  // namespace tapestry
