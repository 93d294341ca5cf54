#include "distributed/ring_stream.hpp"

#include <algorithm>
#include <utility>

#include "tensor/raw.hpp"

namespace tapestry {

TileStream::TileStream(Ranks& ranks, const RingLayout& layout, int tag, Index row_numbers,
                       std::function<void(Index, Index, real*)> fill)
    : ranks_(ranks),
      layout_(layout),
      tag_(tag),
      row_numbers_(row_numbers),
      fill_(std::move(fill)),
      room_(Tensor::empty({window, std::min(layout.tile(), layout.length()) * row_numbers})) {}

real* TileStream::numbers(Index t) const { return raw(room_) + t % window * room_.size(1); }

std::span<std::byte> TileStream::bytes(Index t) const {
  const Index count = layout_.rows(t) * row_numbers_;
  return std::as_writable_bytes(std::span(numbers(t), static_cast<std::size_t>(count)));
}

// Each place of the window has its own tag, for the messages of one tag arrive in their order, and
// a rank may send its own tile before it passes on an earlier one.
void TileStream::begin(Index t) {
  ranks_.wait(slot(t).sent);  // of the tile that was here before
  slot(t) = {};
  if (layout_.owner(t) == ranks_.rank()) {
    fill_(own_++, t, numbers(t));
    pass_on(t);
  } else {
    slot(t).received = ranks_.receive(ranks_.previous(), tag_ + int(t % window), bytes(t));
  }
}

void TileStream::pass_on(Index t) {
  if (std::exchange(slot(t).passed_on, true) || layout_.owner(t) == ranks_.next()) return;
  slot(t).sent = ranks_.send(ranks_.next(), tag_ + int(t % window), bytes(t));
}

const real* TileStream::take(Index t) {
  now_ = t;
  // One place less than there are, so that the tile before this one has time to leave.
  for (; begun_ < std::min(t + window - 1, layout_.tiles()); ++begun_) begin(begun_);
  ranks_.wait(slot(t).received);
  pass_on(t);
  return numbers(t);
}

void TileStream::progress() {
  ranks_.poll();
  for (Index t = now_ + 1; t < begun_; ++t) {
    if (ranks_.done(slot(t).received)) pass_on(t);
  }
}

void TileStream::finish() {
  for (Slot& each : slots_) ranks_.wait(each.sent);
}

}  // namespace tapestry
