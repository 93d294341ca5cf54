// The tape itself: how operations are recorded, and how the backward pass finds the gradients.
//
// An operation on a tensor that the tape knows becomes a record: the numbers of its inputs'
// records, and a function from the gradient of its output to theirs. Inputs are recorded before
// what uses them. So the backward pass is one loop from the last record to the first: when it
// reaches a record, all that used its output have added to its gradient.
//
// See also: state.hpp, the data; recording.cpp, which tape records on a thread; refusals.cpp, its
// errors; checkpoint.cpp; listener.cpp; table.cpp, its labels and entries; non_finite.cpp, which
// reads these entries.
#include "tapestry/tape.hpp"

#include <algorithm>
#include <span>

#include "tape/between.hpp"
#include "tape/state.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

// ---------------------------------------------------------------- recording

// The tensors to differentiate by are the first records. They have no backward function.
void Tape::watch(const Tensor& tensor, std::string_view name) {
  state_->refuse_to_watch(tensor);
  const std::size_t node = state_->records.size();
  state_->watched_at.insert(tensor, node);
  state_->watched.push_back(tensor);
  state_->push({"watched", tensor.shape(), Backward()}, tensor);
  if (!name.empty()) state_->labels[node] = name;
}

// The record that made a tensor; `nothing` for a constant to this tape.
std::uint32_t Tape::State::node_of(const Tensor& tensor) {
  if (tensor.tape_ == serial) return tensor.node_;
  if (tensor.tape_ == Tensor::detached_id || !tensor.defined()) return nothing;
  if (child != nullptr) return import_node(tensor);
  refuse_made_in_part(tensor);
  const std::size_t* const node = watched_at.find(tensor);
  if (node == nullptr) return nothing;
  refuse_earlier_view(tensor, watched[*node]);
  return static_cast<std::uint32_t>(*node);
}

// Every operation asks; only what depends on a watched tensor is recorded.
bool Tape::depends(const Tensor* inputs, std::size_t count) {
  between_operations();
  State* state = State::current();
  return state != nullptr && std::any_of(inputs, inputs + count, [&](const Tensor& x) {
           return state->node_of(x) != State::nothing;
         });
}

bool Tape::needs_gradient(const Tensor& input) {
  State* state = State::current();
  return state != nullptr && state->node_of(input) != State::nothing;
}

Tensor Tape::append(const char* operation, const Tensor* inputs, std::size_t count, Tensor output,
                    Backward backward) {
  State& state = *State::recording;
  const std::size_t first = state.inputs.size();
  for (const Tensor& x : std::span(inputs, count)) state.inputs.push_back(state.node_of(x));
  output.tape_ = state.serial;
  output.node_ = static_cast<std::uint32_t>(state.records.size());
  state.push({operation, output.shape(), std::move(backward), first, count}, output);
  return output;
}

void Tape::State::push(Record record, const Tensor& output) {
  refuse_more_records();
  count_saved(record, output);
  if (discard_backward) record.backward = Backward();
  records.push_back(std::move(record));
  if (keep == Keep::values) values.push_back(output);
}

// ---------------------------------------------------------------- the backward pass

Gradients Tape::backward(const Tensor& loss) {
  State::refuse_loss(loss);
  return backward(loss, Tensor::ones(loss.shape()));
}

Gradients Tape::backward(const Tensor& y, const Tensor& seed) {
  state_->refuse_backward(y, seed);
  const std::uint32_t from = state_->node_of(y);
  if (from == State::nothing) State::refuse_constant(y);
  State::stop_recording();
  state_->gradients.resize(state_->records.size());
  state_->gradients[from] = seed.detach();
  state_->run_backward();
  return state_->gradients_of_watched();
}

// Starts from the gradients given; leaves those of watched and imported tensors.
void Tape::State::run_backward() {
  ran_backward = true;
  if (keep == Keep::values) kept_gradients.resize(records.size());
  for (std::size_t i = records.size(); i-- > 0;) {
    call_backward(i);
    between_operations();
    if (listener != nullptr) call_listener(i);
  }
}

void Tape::State::call_backward(std::size_t i) {
  if (!records[i].backward) return;
  const Backward backward = std::move(records[i].backward);  // its saved tensors are freed below
  if (!gradients[i].defined()) return;
  refuse_changed(i, backward);
  const Tensor dy = std::exchange(gradients[i], Tensor());
  if (keep == Keep::values) kept_gradients[i] = dy;
  GradientSink sink(*this, i);
  backward(dy, sink);
  for (auto& [input, part] : std::exchange(buffers, {})) sink.accumulate(input, std::move(part));
}

// With Keep::values a record adds to zeros of its own, so that one sees what it adds.
Tensor Tape::State::buffer_of(std::size_t input, const Shape& shape) {
  for (const auto& [known, part] : buffers) {
    if (known == input) return part;
  }
  return buffers.emplace_back(input, Tensor::zeros(shape)).second;
}

// Each has a buffer of its own. What y does not depend on has zeros.
Gradients Tape::State::gradients_of_watched() {
  Gradients result;
  result.position_ = watched_at.entries;
  result.watched_ = watched;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = Tensor::zeros(records[i].shape);
    if (keep == Keep::values) kept_gradients[i] = gradients[i];
    const bool own = gradients[i].buffer().owners() == 1 && gradients[i].is_contiguous();
    result.gradients_.push_back(own ? gradients[i] : gradients[i].clone());
  }
  gradients.clear();
  return result;
}

bool GradientSink::needs_gradient(std::size_t input) const {
  return input < state_.records[record_].input_count &&
         state_.input(record_, input) != Tape::State::nothing;
}

// Sums the gradients of one input from several records: in place only if the buffer is not shared.
void GradientSink::accumulate(std::size_t input, Tensor gradient) {
  if (!needs_gradient(input)) return;
  const std::uint32_t node = state_.input(record_, input);
  gradient = sum_to(state_.records[record_].operation, gradient, state_.records[node].shape);
  Tensor& sum = state_.gradients[node];
  const bool keep = state_.keep == Tape::Keep::values;
  // They share the gradient and the sum: then no sum is made in place.
  if (keep) state_.contributions.push_back({record_, node, gradient, {}});
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (sum.buffer().owners() == 1 && sum.is_contiguous()) {
    add_to(sum, gradient);
  } else {
    sum = apply("backward", kernels::active().of<kernels::Add>(), sum, gradient);
  }
  if (keep) state_.contributions.back().sum = sum;
}

Tensor GradientSink::gradient_buffer(std::size_t input) {
  if (!needs_gradient(input)) return Tensor();
  const std::uint32_t node = state_.input(record_, input);
  const Shape& shape = state_.records[node].shape;
  if (state_.keep == Tape::Keep::values) return state_.buffer_of(input, shape);
  Tensor& sum = state_.gradients[node];
  if (!sum.defined()) {
    sum = Tensor::zeros(shape);
  } else if (sum.buffer().owners() > 1 || !sum.is_contiguous()) {
    sum = sum.clone();
  }
  return sum;
}

}  // namespace tapestry
