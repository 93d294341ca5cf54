// The tape that records on a thread: its beginning and end.
#include <algorithm>
#include <atomic>
#include <utility>

#include "tape/state.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

thread_local Tape::State* Tape::State::recording = nullptr;
thread_local Tape::State::Held Tape::State::held;
thread_local std::shared_ptr<Tape::State> Tape::State::spare;

Tape::Tape(const std::vector<Tensor>& watched, Keep keep) {
  start(keep);
  for (const Tensor& tensor : watched) watch(tensor, "");
  record_here();
}

Tape::Tape(const Parameters& watched, Keep keep) {
  start(keep);
  for (const Parameter& parameter : watched) watch(parameter.value, parameter.name);
  record_here();
}

void Tape::start(Keep keep) {
  if (State::current() != nullptr) {
    throw Error(
        "tape: another tape is recording on this thread. Let it go out of scope, or call its "
        "backward, before the next one begins.");
  }
  state_ = State::spare ? std::move(State::spare) : std::make_shared<State>();
  state_->serial = State::new_serial();
  state_->keep = keep;
}

void Tape::record_here() {
  State::recording = state_.get();
  State::held.state = state_;
}

Tape::~Tape() {
  if (State::recording == state_.get()) State::stop_recording();
  if (state_.use_count() > 1) return;  // it records on another thread, which will find it ended
  state_->clear();
  State::spare = std::move(state_);
}

// What is saved of the record's own output was captured before that had a number.
void Tape::State::count_saved(Record& record, const Tensor& output) {
  for (Saved* x = record.backward.saved(); x != nullptr; x = x->next()) {
    record.saved_bytes += x->buffer().bytes();
    if (x->buffer() != output.buffer() || x->tape_ != 0) continue;
    x->tape_ = output.tape_;
    x->node_ = output.node_;
  }
}

std::uint64_t Tape::State::new_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Tape::State* Tape::State::current() {
  const std::shared_ptr<State>& state = held.state;
  if (recording != nullptr && recording == state.get() && state.use_count() == 1) {
    stop_recording();
    throw Error(
        "tape: the tape that recorded on this thread ended on another one, and what was recorded "
        "is lost. Let a Tape end on the thread that made it; nothing is recorded from here on.");
  }
  return recording;
}

void Tape::State::stop_recording() {
  recording = nullptr;
  held.state.reset();
}

void Tape::State::clear() {
  constexpr std::size_t worth_keeping = 100'000;  // do not keep memory for a million records
  if (records.capacity() > worth_keeping) {
    *this = State();
    return;
  }
  records.clear();
  inputs.clear();
  gradients.clear();
  watched.clear();
  watched_at.entries.clear();
  labels.clear();
  values.clear();
  kept_gradients.clear();
  contributions.clear();
  buffers.clear();
  children.clear();
  listener = nullptr;
  ran_backward = false;
}

// ---------------------------------------------------------------- by buffer

const std::size_t* Tape::ByBuffer::find(const Tensor& tensor) const {
  const std::pair key(tensor.buffer().id(), std::size_t{0});
  const auto found = std::lower_bound(entries.begin(), entries.end(), key);
  return found != entries.end() && found->first == key.first ? &found->second : nullptr;
}

void Tape::ByBuffer::insert(const Tensor& tensor, std::size_t node) {
  const std::pair entry(tensor.buffer().id(), node);
  entries.insert(std::lower_bound(entries.begin(), entries.end(), entry), entry);
}

}  // namespace tapestry
