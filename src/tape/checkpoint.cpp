// Gradient checkpointing: the backward pass recomputes what was not kept.
//
// f runs on a tape of its own, a child of the one that records. Tensors of the parent tape that f
// reads are imported: on the child they are like watched ones. In the forward pass the child only
// finds what is imported, and is discarded. In the backward pass it is recorded in full; its own
// backward pass adds to the parent's gradients of what is imported, so that sums have the same
// order as without a checkpoint.
#include <algorithm>
#include <map>

#include "tape/state.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

using PartFunction = std::function<Tensor(const std::vector<Tensor>&)>;

constexpr const char* changed =
    "checkpoint: f gave other numbers, or read other tensors, when it ran again in the backward "
    "pass: its gradient would be wrong. If it draws random numbers, make the generator inside f, "
    "from a "
    "seed.";

Tensor result_of(const PartFunction& f, const std::vector<Tensor>& inputs) {
  const Tensor y = f(inputs);
  if (!y.defined()) throw Error("checkpoint: f returned an undefined tensor.");
  return y;
}

void check_no_capture() {
  if (!Capture::active()) return;
  throw Error(
      "checkpoint: a Capture is active. f runs twice and would be recorded twice. End the Capture "
      "first, or call f itself.");
}

}  // namespace

// What the State of a child tape has in addition.
struct Tape::Child {
  State& parent;
  std::map<std::uint32_t, std::uint32_t> imported = {};  // parent record -> record here

  // Registers with the outermost tape, which can then recognise tensors that left a child.
  Child(State& state, State& of) : parent(of) {
    state.child = this;
    State* outermost = &of;
    while (outermost->child != nullptr) outermost = &outermost->child->parent;
    outermost->children.push_back(state.serial);
  }
};

// The number here of a tensor of the parent tape; `nothing` if it is not on that.
std::uint32_t Tape::State::import_node(const Tensor& tensor) {
  const std::uint32_t node = child->parent.node_of(tensor);
  if (node == nothing) return nothing;
  if (const auto known = child->imported.find(node); known != child->imported.end()) {
    return known->second;
  }
  const auto number = static_cast<std::uint32_t>(records.size());
  push({"borrowed", tensor.shape(), Backward()}, tensor);
  return child->imported[node] = number;
}

namespace {

// A vector that is moved keeps its elements in place; these move, so that the record gets them.
struct Inputs {
  std::vector<Saved> all;

  explicit Inputs(const std::vector<Tensor>& inputs) {
    for (const Tensor& x : inputs) all.push_back(Tape::save(x));
  }
  Inputs(Inputs&& other) {
    all.reserve(other.all.size());
    for (Saved& x : other.all) all.push_back(std::move(x));
  }
};

}  // namespace

struct Tape::Checkpointed {
  PartFunction f;
  std::vector<Tensor> inputs;
  Inputs saved = Inputs(inputs);
  std::uint64_t expected = 0;  // fingerprint of the output

  Tensor record(State& whole);  // the output, as one record of the parent

  // f, recorded by `state`
  Tensor run(State& state) const {
    struct Recording {
      State* before;
      explicit Recording(State& now) : before(std::exchange(State::recording, &now)) {}
      ~Recording() { State::recording = before; }
    } recording(state);
    return result_of(f, inputs);
  }

  void operator()(const Tensor& dy, GradientSink& to) const {
    check_no_capture();
    State state;
    Child own(state, to.state_);
    const Tensor y = run(state);
    const bool same = y.tape_ == state.serial && y.shape() == dy.shape();
    if (!same || fingerprint(y) != expected || !reads_the_same(own, to)) throw Error(changed);
    std::vector<Tensor>& gradients = to.state_.gradients;
    state.gradients.resize(state.records.size());
    for (const auto& [theirs, ours] : own.imported) {
      state.gradients[ours] = std::exchange(gradients[theirs], Tensor());
    }
    state.gradients[y.node_] = dy;
    state.keep = to.state_.keep;  // only now: the values of f's own records are of no use
    state.run_backward();
    for (const auto& [theirs, ours] : own.imported) {
      gradients[theirs] = std::move(state.gradients[ours]);
    }
    for (const Contribution& one : state.contributions) {
      for (const auto& [theirs, ours] : own.imported) {
        if (one.to != ours) continue;
        to.state_.contributions.push_back({to.record_, theirs, one.added, one.sum});
      }
    }
  }

  static bool reads_the_same(const Child& child, const GradientSink& to) {
    const Record& record = to.state_.records[to.record_];
    const auto first = to.state_.inputs.begin() + static_cast<std::ptrdiff_t>(record.first_input);
    const auto last = first + static_cast<std::ptrdiff_t>(record.input_count);
    return std::all_of(child.imported.begin(), child.imported.end(), [&](const auto& pair) {
      return std::binary_search(first, last, pair.first);
    });
  }
};

Tensor Tape::Checkpointed::record(State& whole) {
  State state;
  Child own(state, whole);
  state.discard_backward = true;
  Tensor y = run(state);
  if (y.tape_ != state.serial) return y;  // f computed nothing that needs a gradient
  expected = fingerprint(y);
  const std::size_t first = whole.inputs.size();
  for (const auto& pair : own.imported) whole.inputs.push_back(pair.first);  // in rising order
  y.tape_ = whole.serial;
  y.node_ = static_cast<std::uint32_t>(whole.records.size());
  const Shape shape = y.shape();
  const std::size_t count = whole.inputs.size() - first;
  whole.push({"checkpoint", shape, Backward(std::move(*this)), first, count}, y);
  return y;
}

Tensor checkpoint(const PartFunction& f, const std::vector<Tensor>& inputs) {
  if (!f) throw Error("checkpoint: there is no function to compute.");
  if (Tape::State::current() == nullptr) return result_of(f, inputs);
  check_no_capture();
  return Tape::Checkpointed{f, inputs}.record(*Tape::State::recording);
}

}  // namespace tapestry
