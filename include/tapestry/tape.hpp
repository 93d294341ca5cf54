// The tape: records operations in order; its backward pass computes gradients.
//
//   Tape tape({w, b});                        // records while in scope, for these tensors
//   Tensor loss = mse(matmul(x, w) + b, y);   // every operation that depends on them is a record
//   Gradients gradients = tape.backward(loss);
//   gradients[w];                             // d loss / d w, shaped like w
//
// The order of recording is a topological order, so the backward pass is one loop from the last
// record to the first: reverse-mode differentiation (Linnainmaa 1970; Griewank & Walther 2008).
// Without a tape an operation is plain inference and saves nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapestry/saved.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

class GradientSink;

// The backward function of a record, from its output's gradient to its inputs': a callable
//   void(const Tensor& dy, GradientSink& to)
// kept in pooled memory. What it captures is exactly what the record saves for the backward pass;
// tensors are captured by Tape::save.
class Backward {
 public:
  Backward() = default;
  template <class Function>
  explicit Backward(Function function) : memory_(sizeof(Function)) {
    static_assert(alignof(Function) <= 64);
    const Saved::Keeper keeper(saved_);
    new (memory_.data()) Function(std::move(function));
    call_ = [](void* f, const Tensor& dy, GradientSink& to) {
      (*static_cast<Function*>(f))(dy, to);
    };
    destroy_ = [](void* f) { static_cast<Function*>(f)->~Function(); };
  }
  Backward(Backward&& other) noexcept { swap(other); }
  Backward& operator=(Backward&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Backward() {
    if (memory_) destroy_(memory_.data());
  }

  void operator()(const Tensor& dy, GradientSink& to) const { call_(memory_.data(), dy, to); }
  explicit operator bool() const { return static_cast<bool>(memory_); }

  Saved* saved() const { return saved_; }  // the first of the tensors captured by Tape::save

 private:
  void swap(Backward& other) {
    std::swap(memory_, other.memory_);
    std::swap(saved_, other.saved_);
    std::swap(call_, other.call_);
    std::swap(destroy_, other.destroy_);
  }

  Buffer memory_;
  Saved* saved_ = nullptr;
  void (*call_)(void*, const Tensor&, GradientSink&) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

// The gradients of one backward pass, by watched tensor. Each is contiguous and shares its buffer
// with no other tensor, so that it may be changed in place.
class Gradients {
 public:
  // d y / d watched, shaped like it; zeros if y does not depend on it. Throws Error if the tape
  // does not watch this tensor.
  [[nodiscard]] const Tensor& operator[](const Tensor& watched) const;

  std::size_t size() const { return gradients_.size(); }
  const Tensor& at(std::size_t position) const { return gradients_.at(position); }  // list order

 private:
  friend class Tape;
  std::vector<Tensor> watched_;
  std::vector<Tensor> gradients_;
  std::vector<std::pair<const void*, std::size_t>> position_;  // by buffer, sorted
};

// Is called during a backward pass, so that gradients can be sent before it ends.
class BackwardListener {
 public:
  virtual ~BackwardListener() = default;

  // The gradient of the tensor at this position of the tape's list is complete. Undefined: zeros.
  virtual void complete(std::size_t position, const Tensor& gradient) = 0;
  virtual void after_record() {}  // after each record
};

class Tape {
 public:
  // A record as data, for printing and drawing.
  struct Entry {
    std::string operation;            // "matmul", or "watched" for the watched tensors
    std::string label;                // given by label(), else empty
    Shape shape;                      // of the output
    std::vector<std::size_t> inputs;  // entries it depends on, all earlier
    std::size_t saved_bytes;          // kept for the backward pass
    Tensor value, gradient;           // only with Keep::values; gradient after backward
  };

  // What the backward function of one record added to the gradient of one of its inputs.
  struct Contribution {
    std::size_t from, to;  // the record, and its input
    Tensor added, sum;     // shaped like the input; sum: its gradient so far, with this
  };

  // With Keep::values every output, its gradient and what that is the sum of are kept: for drawing,
  // first_non_finite() and tape_steps.hpp.
  enum class Keep { only_what_is_needed, values };

  // Starts recording on this thread. Throws Error if another tape is recording here, or if a
  // tensor is listed twice, undefined or a strided view.
  // What an earlier tape recorded is a constant to this one: gradients go back to the tensors
  // listed here and no further.
  explicit Tape(const std::vector<Tensor>& watched, Keep keep = Keep::only_what_is_needed);
  explicit Tape(const Parameters& watched, Keep keep = Keep::only_what_is_needed);
  // To end on the thread that made it. If it ends elsewhere, that thread's next operation throws
  // Error: its records would have got lost without a word.
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // The backward pass from `loss`, which must have one element; ends the recording. To be called
  // once, on the thread that made the tape. Throws Error elsewhere, if the loss has more elements,
  // does not depend on a watched tensor, or was made on another tape, at a second call, and if
  // numbers that a record saved were changed since.
  Gradients backward(const Tensor& loss);

  // The same, and tells `listener` of each gradient as soon as no earlier record can add to it.
  Gradients backward(const Tensor& loss, BackwardListener& listener);

  // The same for y of any shape: the gradient of sum(y * seed), a vector-Jacobian product.
  Gradients backward(const Tensor& y, const Tensor& seed);

  // Names `tensor` in table() and pictures. Ignored for what is not on the tape.
  void label(const Tensor& tensor, std::string_view name);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<Entry> entries() const;

  // In the order of the backward pass; none before it, and none without Keep::values. What a
  // checkpoint's function gave is counted as its record's.
  [[nodiscard]] std::vector<Contribution> contributions() const;

  // One line per record: number, operation, inputs, shape, bytes saved (a buffer that two records
  // save counts in both), label.
  [[nodiscard]] std::string table() const;

  // The records as a graph in the language of Graphviz, for `dot -Tsvg`: node i is record i, a box
  // with its label, operation and shape; an arrow runs to it from each of its inputs. (Without
  // Graphviz: tape_diagram in pictures.hpp.)
  [[nodiscard]] std::string dot() const;

  // With Keep::values: the first record whose output holds a NaN or an infinity that no input of
  // it held, told in one line; after backward, where all outputs are finite, likewise the first
  // gradient; empty if there is none. Infinities that a mask places on purpose, by where or
  // masked_fill or by adding a tensor that is not on the tape, are skipped; an infinite loss or a
  // NaN made from them is reported together with the mask.
  // Throws Error without Keep::values.
  [[nodiscard]] std::string first_non_finite() const;

  // For operations (ops/): puts `output`, made from `inputs`, on the recording tape of this thread
  // and returns it; returns it unchanged when there is no tape or no input depends on a watched
  // tensor. The parts of `backward` are described at Backward and GradientSink.
  template <class Function>
  static Tensor record(const char* operation, std::initializer_list<Tensor> inputs, Tensor output,
                       Function backward) {
    return record(operation, inputs.begin(), inputs.size(), std::move(output), std::move(backward));
  }
  template <class Function>
  static Tensor record(const char* operation, const std::vector<Tensor>& inputs, Tensor output,
                       Function backward) {
    return record(operation, inputs.data(), inputs.size(), std::move(output), std::move(backward));
  }

  // True if this input needs a gradient: a tape is recording, and it is a watched tensor or depends
  // on one. If not, do not save what only its gradient needs.
  [[nodiscard]] static bool needs_gradient(const Tensor& input);

  // For the capture list of a backward function: [x = Tape::save(x)]. The record then counts its
  // bytes, and the backward pass refuses x if it was changed.
  [[nodiscard]] static Saved save(const Tensor& tensor) { return Saved(tensor); }

 private:
  friend class GradientSink;
  friend Tensor checkpoint(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                           const std::vector<Tensor>& inputs);
  struct Record;
  struct ByBuffer;
  struct State;
  struct Child;
  struct Checkpointed;

  template <class Function>
  static Tensor record(const char* operation, const Tensor* inputs, std::size_t count,
                       Tensor output, Function backward) {
    if (!depends(inputs, count)) return output;
    return append(operation, inputs, count, std::move(output), Backward(std::move(backward)));
  }
  static bool depends(const Tensor* inputs, std::size_t count);
  static Tensor append(const char* operation, const Tensor* inputs, std::size_t count,
                       Tensor output, Backward backward);
  void watch(const Tensor& tensor, std::string_view name);
  void start(Keep keep);
  void record_here();

  std::shared_ptr<State> state_;  // shared with the thread that it records on
};

// Receives the gradients of a record's inputs, numbered as in the call of record.
class GradientSink {
 public:
  // False if the input needs no gradient: it need not be computed.
  [[nodiscard]] bool needs_gradient(std::size_t input) const;

  // Adds `gradient` to the input's. Its shape must be the input's, or one that the input was
  // broadcast to, in which case it is summed back. Throws Error otherwise.
  void accumulate(std::size_t input, Tensor gradient);

  // The input's gradient buffer, zeros at first, to be added to in place: for records that read a
  // part of an input, like slice. Undefined if the input needs no gradient.
  [[nodiscard]] Tensor gradient_buffer(std::size_t input);

 private:
  friend class Tape;
  GradientSink(Tape::State& state, std::size_t record) : state_(state), record_(record) {}
  Tape::State& state_;
  std::size_t record_;
};

// f(inputs), computed twice to save memory (gradient checkpointing; Griewank & Walther 2000, Chen
// et al. 2016): with a tape it becomes one record, which keeps the inputs and none of f's
// intermediates; in the backward pass f runs again, and its records give the gradients, bitwise
// equal to those of f(inputs) itself. So a chain of calls needs memory for their inputs and for one
// call at a time; it takes one more forward pass. Without a tape it is f(inputs).
//
// What f reads besides the inputs, weights for example, gets its gradients, too; it and what f
// refers to must exist until the backward pass. Only what f returns is on the tape: using its other
// results outside throws Error. f may call checkpoint.
// Throws Error if f is empty or returns nothing, on a tape while a Capture is active (f runs
// twice), and, in the backward pass, if f then gives other numbers or reads other tensors: make a
// generator, for dropout, inside f from a seed, since one outside would have advanced.
[[nodiscard]] Tensor checkpoint(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                const std::vector<Tensor>& inputs);

}  // namespace tapestry
