// Errors of a tape, each with a way out.
#include <algorithm>

#include "tape/state.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

void Tape::State::refuse_to_watch(const Tensor& tensor) const {
  const std::string number = "tape: watched tensor " + std::to_string(watched.size());
  if (!tensor.defined()) throw Error(number + " is undefined: it holds no numbers.");
  if (!tensor.is_contiguous()) {
    throw Error(number + " " + to_string(tensor.shape()) +
                " is a strided view. Watch the tensor that owns the numbers, or a clone().");
  }
  if (watched_at.find(tensor) != nullptr) {
    throw Error(number + " " + to_string(tensor.shape()) +
                " shares its numbers with an earlier one. List every tensor once.");
  }
}

bool Tape::State::is_made_in_part(const Tensor& tensor) const {
  return std::binary_search(children.begin(), children.end(), tensor.tape_);
}

void Tape::State::refuse_made_in_part(const Tensor& tensor) const {
  if (!is_made_in_part(tensor)) return;
  throw Error("checkpoint: " + to_string(tensor.shape()) +
              " was made inside f, and is not what f returned: outside it has no gradient. Return "
              "it (several joined by concat), or use detach() if no gradient is wanted.");
}

bool Tape::State::is_earlier_view(const Tensor& view, const Tensor& original) {
  return view.shape() != original.shape() || view.offset() != original.offset() ||
         !view.is_contiguous();
}

void Tape::State::refuse_earlier_view(const Tensor& view, const Tensor& original) {
  if (!is_earlier_view(view, original)) return;
  throw Error("tape: a view " + to_string(view.shape()) +
              ", made before the tape began, shares the numbers of a watched tensor " +
              to_string(original.shape()) +
              ", so its gradient would be lost. Make the view while the tape records, or use "
              "detach() if no gradient is wanted.");
}

void Tape::State::refuse_more_records() const {
  if (records.size() < nothing) return;
  throw Error("tape: more than four thousand million records. Call backward more often.");
}

void Tape::State::refuse_loss(const Tensor& loss) {
  if (loss.defined() && loss.numel() == 1) return;
  throw Error("backward: the loss is " + (loss.defined() ? to_string(loss.shape()) : "undefined") +
              ", but must be one number. Reduce it first, for example with mean(loss).");
}

void Tape::State::refuse_backward(const Tensor& y, const Tensor& seed) const {
  if (ran_backward) {
    throw Error(
        "backward: it was already called on this tape, and what the tape saved is freed. Make a "
        "new Tape for "
        "each step.");
  }
  if (!seed.defined()) throw Error("backward: the seed is undefined: it holds no numbers.");
  if (y.shape() != seed.shape()) {
    throw Error("backward: y is " + to_string(y.shape()) + ", seed is " + to_string(seed.shape()) +
                ": they must have the same shape.");
  }
  if (current() != this) {
    throw Error(
        "backward: this tape does not record here. Call backward on the thread that made it, "
        "outside the function of checkpoint.");
  }
}

void Tape::State::refuse_constant(const Tensor& y) {
  const bool made_before = y.tape_ != 0 && y.tape_ != Tensor::detached_id;
  throw Error(made_before
                  ? "backward: the loss was made on another tape; to this one it is a constant. "
                    "Call backward on that tape, or compute the loss again while this one records."
                  : "backward: the loss does not depend on any watched tensor. Compute it while "
                    "the tape records, from the tensors given to Tape(...).");
}

void Tape::State::refuse_changed(std::size_t record, const Backward& backward) const {
  const auto label_of = [&](std::size_t node) {
    const auto label = labels.find(node);
    return label == labels.end() ? "" : " '" + label->second + "'";
  };
  for (const Saved* x = backward.saved(); x != nullptr; x = x->next()) {
    if (!x->changed()) continue;
    const std::size_t* const known = watched_at.find(*x);
    const std::size_t node = known != nullptr ? *known : x->tape_ == serial ? x->node_ : nothing;
    throw Error("backward: record " + std::to_string(record) + ", " + records[record].operation +
                label_of(record) + ", saved" + label_of(node) + " " + to_string(x->shape()) +
                ", whose numbers were changed since: its gradient would be wrong. Change them "
                "after backward(), or compute with a clone() of them.");
  }
}

const Tensor& Gradients::operator[](const Tensor& watched) const {
  const std::pair key(watched.buffer().id(), std::size_t{0});
  const auto found = std::lower_bound(position_.begin(), position_.end(), key);
  if (found == position_.end() || found->first != key.first ||
      watched_[found->second].shape() != watched.shape() ||
      watched_[found->second].offset() != watched.offset()) {
    throw Error("gradients: this tensor " + to_string(watched.shape()) +
                " was not given to the tape. List it in Tape({...}).");
  }
  return gradients_[found->second];
}

}  // namespace tapestry
