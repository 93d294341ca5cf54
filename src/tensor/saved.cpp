#include "tapestry/saved.hpp"

#include <bit>
#include <mutex>
#include <utility>

#include "tensor/raw.hpp"

namespace tapestry {
namespace {

std::mutex mutex;  // of the lists of all buffers
thread_local Saved** end_of_record = nullptr;

}  // namespace

std::uint64_t fingerprint(const Tensor& x) {
  using Bits = std::conditional_t<sizeof(real) == 8, std::uint64_t, std::uint32_t>;
  const Tensor dense = x.contiguous();
  const real* const numbers = raw(dense);
  std::uint64_t sum = 1;
  for (Index i = 0; i < dense.count(); ++i) {
    const std::uint64_t place = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u;
    const std::uint64_t mixed = (std::bit_cast<Bits>(numbers[i]) ^ place) * 0xD6E8FEB86659FD93u;
    sum += (mixed ^ mixed >> 32) * 0xBF58476D1CE4E5B9u;
  }
  return sum == 0 ? 1 : sum;
}

Saved::Saved(const Saved& other) : Tensor(static_cast<const Tensor&>(other)) { keep(); }
Saved::Saved(Saved&& other) : Tensor(static_cast<Tensor&&>(other)) { keep(); }

Saved::~Saved() {
  if (!kept_) return;
  const std::lock_guard lock(mutex);
  *here_ = beside_;
  if (beside_ != nullptr) beside_->here_ = here_;
}

void Saved::keep() {
  if (end_of_record == nullptr || !defined()) return;
  const std::lock_guard lock(mutex);
  Buffer::Block& block = *buffer().block_;
  if (block.given_away) fingerprint_ = fingerprint(*this);
  *std::exchange(end_of_record, &next_) = this;
  here_ = &block.saved;
  beside_ = std::exchange(block.saved, this);
  if (beside_ != nullptr) beside_->here_ = &beside_;
  kept_ = true;
}

bool Saved::changed() const {
  const std::uint64_t before = fingerprint_;
  return before != 0 && before != fingerprint(*this);
}

void Saved::before_change(const Buffer& buffer, bool for_good) {
  const std::lock_guard lock(mutex);
  for (Saved* x = buffer.block_->saved; x != nullptr; x = x->beside_) {
    if (x->fingerprint_ == 0) x->fingerprint_ = fingerprint(*x);
  }
  if (for_good) buffer.block_->given_away = true;
}

Saved::Keeper::Keeper(Saved*& first) : before_(std::exchange(end_of_record, &first)) {}
Saved::Keeper::~Keeper() { end_of_record = before_; }

}  // namespace tapestry
