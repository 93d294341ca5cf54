#include "tapestry/tape.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "tape_state.hpp"
#include "tapestry/error.hpp"
#include "unrecorded.hpp"

namespace tapestry {
namespace {

using ByBuffer = std::vector<std::pair<const void*, std::size_t>>;  // sorted

ByBuffer::const_iterator find(const ByBuffer& map, const Tensor& tensor) {
  const std::pair key(tensor.buffer().id(), std::size_t{0});
  const auto found = std::lower_bound(map.begin(), map.end(), key);
  return found != map.end() && found->first == key.first ? found : map.end();
}

}  // namespace

thread_local Tape::State* Tape::State::recording = nullptr;
thread_local Tape::State::Held Tape::State::held;
thread_local std::shared_ptr<Tape::State> Tape::State::spare;
thread_local std::size_t Tape::State::pending_bytes = 0;

std::uint64_t Tape::State::new_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Tape::State* Tape::State::current() {
  const std::shared_ptr<State>& state = held.state;
  if (recording != nullptr && recording == state.get() && state.use_count() == 1) stop_recording();
  return recording;
}

void Tape::State::stop_recording() {
  recording = nullptr;
  held.state.reset();
}

std::uint32_t Tape::State::node_of(const Tensor& tensor) {
  if (tensor.tape_ == serial) return tensor.node_;
  if (tensor.tape_ == Tensor::stranger || !tensor.defined()) return nothing;
  if (whole != nullptr) return borrow(tensor);
  if (std::binary_search(parts.begin(), parts.end(), tensor.tape_)) {
    throw Error(
        "checkpoint: " + to_string(tensor.shape()) +
        " was made inside f, and is not what f returned: outside it has no gradient. Return "
        "it (several joined by concat), or use detached() if no gradient is wanted.");
  }
  const auto found = find(watched_at, tensor);
  if (found == watched_at.end()) return nothing;
  const Tensor& original = watched[found->second];
  if (tensor.shape() != original.shape() || tensor.offset() != original.offset() ||
      !tensor.is_contiguous()) {
    throw Error("tape: a view " + to_string(tensor.shape()) +
                ", made before the tape began, shares the numbers of a watched tensor " +
                to_string(original.shape()) +
                ", so its gradient would be lost. Make the view while the tape lives, or use "
                "detached() if no gradient is wanted.");
  }
  return static_cast<std::uint32_t>(found->second);
}

void Tape::State::clear() {
  constexpr std::size_t worth_keeping = 100'000;  // do not hoard a million-node chain
  if (records.capacity() > worth_keeping) {
    *this = State();
    return;
  }
  records.clear();
  inputs.clear();
  gradients.clear();
  watched.clear();
  watched_at.clear();
  labels.clear();
  values.clear();
  kept_gradients.clear();
  parts.clear();
  walked = false;
}

// ---------------------------------------------------------------- recording

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

void Tape::record_here() {
  State::recording = state_.get();
  State::held.state = state_;
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
  State::pending_bytes = 0;
}

Tape::~Tape() {
  if (State::recording == state_.get()) State::stop_recording();
  if (state_.use_count() > 1) return;  // it records on another thread, which will find it dead
  state_->clear();
  State::spare = std::move(state_);
}

void Tape::watch(const Tensor& tensor, std::string_view name) {
  const std::string number = "tape: watched tensor " + std::to_string(state_->watched.size());
  if (!tensor.defined()) throw Error(number + " is undefined: it holds no numbers.");
  if (!tensor.is_contiguous()) {
    throw Error(number + " " + to_string(tensor.shape()) +
                " is a strided view. Watch the tensor that owns the numbers, or a clone().");
  }
  ByBuffer& map = state_->watched_at;
  if (find(map, tensor) != map.end()) {
    throw Error(number + " " + to_string(tensor.shape()) +
                " shares its numbers with an earlier one. List every tensor once.");
  }
  const std::pair entry(tensor.buffer().id(), state_->records.size());
  map.insert(std::lower_bound(map.begin(), map.end(), entry), entry);
  state_->watched.push_back(tensor);
  state_->records.push_back({"watched", tensor.shape(), Backward(), 0, 0, 0});
  if (!name.empty()) state_->labels[entry.second] = name;
  if (state_->keep == Keep::values) state_->values.push_back(tensor);
}

bool Tape::depends(const Tensor* inputs, std::size_t count) {
  State* state = State::current();
  const bool any = state != nullptr && std::any_of(inputs, inputs + count, [&](const Tensor& x) {
                     return state->node_of(x) != State::nothing;
                   });
  if (!any) State::pending_bytes = 0;
  return any;
}

bool Tape::wants(const Tensor& input) {
  State* state = State::current();
  return state != nullptr && state->node_of(input) != State::nothing;
}

Tensor Tape::append(const char* operation, const Tensor* inputs, std::size_t count, Tensor output,
                    Backward backward) {
  State& state = *State::recording;
  const std::size_t first = state.inputs.size();
  for (std::size_t i = 0; i < count; ++i) state.inputs.push_back(state.node_of(inputs[i]));
  output.tape_ = state.serial;
  output.node_ = state.push(operation, output.shape(), std::move(backward), first,
                            std::exchange(State::pending_bytes, 0));
  if (state.keep == Keep::values) state.values.push_back(output);
  return output;
}

std::uint32_t Tape::State::push(const char* operation, const Shape& shape, Backward backward,
                                std::size_t first_input, std::size_t saved_bytes) {
  if (records.size() >= nothing) {
    throw Error("tape: more than four thousand million records. Walk back more often.");
  }
  records.push_back({operation, shape, forgets ? Backward() : std::move(backward), first_input,
                     inputs.size() - first_input, saved_bytes});
  return static_cast<std::uint32_t>(records.size() - 1);
}

Tensor Tape::save(const Tensor& tensor) {
  if (State::recording != nullptr) State::pending_bytes += tensor.buffer().bytes();
  return tensor;
}

void Tape::label(const Tensor& tensor, std::string_view name) {
  const std::uint32_t node = state_->node_of(tensor);
  if (node != State::nothing) state_->labels[node] = name;
}

// ---------------------------------------------------------------- walking back

Gradients Tape::backward(const Tensor& loss) {
  if (!loss.defined() || loss.count() != 1) {
    throw Error("backward: the loss is " +
                (loss.defined() ? to_string(loss.shape()) : "undefined") +
                ", but must be one number. Reduce it first, for example with mean(loss).");
  }
  return backward(loss, Tensor::ones(loss.shape()));
}

Gradients Tape::backward(const Tensor& y, const Tensor& seed) {
  if (state_->walked) {
    throw Error(
        "backward: this tape was walked already, and what it saved is freed. Make a new Tape for "
        "each step.");
  }
  if (!seed.defined()) throw Error("backward: the seed is undefined: it holds no numbers.");
  if (y.shape() != seed.shape()) {
    throw Error("backward: y is " + to_string(y.shape()) + ", seed is " + to_string(seed.shape()) +
                ": they must have the same shape.");
  }
  if (State::current() != state_.get()) {
    throw Error(
        "backward: this tape does not record here. Walk back on the thread that made it, outside "
        "of "
        "what checkpoint computes.");
  }
  const std::uint32_t from = state_->node_of(y);
  if (from == State::nothing) {
    const bool made_before = y.tape_ != 0 && y.tape_ != Tensor::stranger;
    throw Error(made_before
                    ? "backward: the loss was made on another tape; to this one it is a constant. "
                      "Walk back on that tape, or compute the loss again while this one lives."
                    : "backward: the loss does not depend on any watched tensor. Compute it while "
                      "the tape lives, from the tensors given to Tape(...).");
  }
  State::stop_recording();
  return walk(from, seed.detached());
}

// Leaves the gradients of what nothing on this tape made: watched tensors, and borrowed ones.
void Tape::State::walk() {
  walked = true;
  if (keep == Keep::values) kept_gradients.resize(records.size());
  for (std::size_t i = records.size(); i-- > 0;) {
    if (!records[i].backward) continue;
    Backward backward = std::move(records[i].backward);  // what it saved is freed below
    if (!gradients[i].defined()) continue;
    const Tensor dy = std::move(gradients[i]);
    gradients[i] = Tensor();
    if (keep == Keep::values) kept_gradients[i] = dy;
    Gate gate(*this, i);
    backward(dy, gate);
  }
}

Gradients Tape::walk(std::size_t from, const Tensor& seed) {
  std::vector<Record>& records = state_->records;
  std::vector<Tensor>& gradients = state_->gradients;
  const std::size_t watched = state_->watched.size();
  gradients.resize(records.size());
  gradients[from] = seed;
  state_->walk();
  Gradients result;
  result.position_ = state_->watched_at;
  for (std::size_t i = 0; i < watched; ++i) {
    if (!gradients[i].defined()) gradients[i] = Tensor::zeros(records[i].shape);
    if (state_->keep == Keep::values) state_->kept_gradients[i] = gradients[i];
    const bool own = gradients[i].buffer().owners() == 1 && gradients[i].is_contiguous();
    result.gradients_.push_back(own ? gradients[i] : gradients[i].clone());
  }
  result.watched_ = state_->watched;
  gradients.clear();
  return result;
}

bool Gate::wants(std::size_t input) const {
  const auto& record = state_.records[record_];
  return input < record.input_count &&
         state_.inputs[record.first_input + input] != Tape::State::nothing;
}

void Gate::give(std::size_t input, Tensor gradient) {
  if (!wants(input)) return;
  const std::size_t node = state_.inputs[state_.records[record_].first_input + input];
  gradient = sum_to(state_.records[record_].operation, gradient, state_.records[node].shape);
  Tensor& sum = state_.gradients[node];
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (sum.buffer().owners() == 1 && sum.is_contiguous()) {
    add_to(sum, gradient);  // nobody else can see these numbers change
  } else {
    sum = apply("backward", kernels::active().add, sum, gradient);
  }
}

Tensor Gate::sum(std::size_t input) {
  if (!wants(input)) return Tensor();
  const std::size_t node = state_.inputs[state_.records[record_].first_input + input];
  Tensor& sum = state_.gradients[node];
  if (!sum.defined()) {
    sum = Tensor::zeros(state_.records[node].shape);
  } else if (sum.buffer().owners() > 1 || !sum.is_contiguous()) {
    sum = sum.clone();
  }
  return sum;
}

const Tensor& Gradients::operator[](const Tensor& watched) const {
  const auto found = find(position_, watched);
  if (found == position_.end() || watched_[found->second].shape() != watched.shape() ||
      watched_[found->second].offset() != watched.offset()) {
    throw Error("gradients: this tensor " + to_string(watched.shape()) +
                " was not given to the tape. List it in Tape({...}).");
  }
  return gradients_[found->second];
}

}  // namespace tapestry
