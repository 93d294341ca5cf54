// Tensors that a tape keeps for the backward pass, and how it knows that they were changed since.
//
// A gradient made from other numbers than those of the forward pass is wrong and looks right. To
// compare all numbers that are kept would cost as much as reading them twice at every step.
// So a tape compares those that may have been changed, by a fingerprint of 64 bits:
//   - A caller of Tensor::data() may write at that address, at once or much later. What is
//     kept of those numbers already gets its fingerprint before the address is given away; what is
//     kept of them afterwards, when it is kept.
//   - set(), optimisers and other changes by the library take the fingerprints that are missing.
//   - The library reads, and fills what it has just made, by addresses of its own (tensor/raw.hpp).
//     A training step that leaves data() alone compares nothing.
// So reading is never taken for writing, numbers that were put back are none that were changed, and
// elements beside those that are kept do not matter. Not seen: what is written by way of
// Buffer::data(), and what checkpoint's f reads beside its inputs, if its output stays the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "tapestry/tensor.hpp"

namespace tapestry {

// To be captured by a backward function: [x = Tape::save(x)]. It is a tensor like any other; once
// the function belongs to a record, it also knows whether its numbers are still those of then.
class Saved : public Tensor {
 public:
  Saved() = default;  // nothing, like Tensor()
  explicit Saved(const Tensor& tensor) : Tensor(tensor) {}
  Saved(const Saved& other);
  Saved(Saved&& other);
  Saved& operator=(const Saved&) = delete;
  ~Saved();

  [[nodiscard]] bool changed() const;
  Saved* next() const { return next_; }  // another one of the same record, or null

  // While it exists, what is copied or moved on this thread belongs to the record whose list begins
  // with `first`.
  class Keeper {
   public:
    explicit Keeper(Saved*& first);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

   private:
    Saved** before_;
  };

  // Called before numbers in this buffer are changed; `for_good` when they may be at any later
  // time.
  static void before_change(const Buffer& buffer, bool for_good);

 private:
  void keep();

  bool kept_ = false;        // belongs to a record
  Saved* next_ = nullptr;    // of the record
  Saved** here_ = nullptr;   // in the list of its buffer: what points at this one,
  Saved* beside_ = nullptr;  // and the next one
  std::atomic<std::uint64_t> fingerprint_ = 0;  // 0: not taken, for nothing can have changed
};

}  // namespace tapestry
