#include "tapestry/saved.hpp"

#include <mutex>
#include <utility>

#include "tensor/raw.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tapestry {
namespace {

std::mutex mutex;  // of the lists of all buffers
thread_local Saved** end_of_record = nullptr;

}  // namespace

std::uint64_t fingerprint(const Tensor& x) {
  const Tensor dense = x.contiguous();
  const std::span numbers(raw(dense), static_cast<std::size_t>(dense.numel()));
  const std::uint64_t hash = fingerprint(std::as_bytes(numbers));
  return hash == 0 ? 1 : hash;
}

std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
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
