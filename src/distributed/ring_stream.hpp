// Tiles that travel round the ring, in ascending order, through a window of a few buffers.
#pragma once

#include <array>
#include <functional>

#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Each tile starts at its owner and is passed on to the next rank until all have it: by nonblocking
// messages, ahead of its turn, so that it travels while earlier ones are computed with.
class TileStream {
 public:
  static constexpr Index window = 4;  // tiles in memory

  // A tile has `row_numbers` numbers for each of its rows. fill(i, t, to) writes tile t, the i-th
  // of this rank, to its place in the window. Uses the tags from `tag` to tag + window - 1.
  TileStream(Ranks& ranks, const RingLayout& layout, int tag, Index row_numbers,
             std::function<void(Index i, Index t, real* to)> fill);

  // The numbers of tile t; they stay until the next call. For t = 0, 1, 2, ...
  const real* take(Index t);

  // Passes on what has arrived. To be called while computing.
  void progress();

  // Waits for the last messages. To be called at the end.
  void finish();

 private:
  struct Slot {
    Message received, sent;
    bool passed_on = false;
  };
  Slot& slot(Index t) { return slots_.at(static_cast<std::size_t>(t % window)); }
  real* numbers(Index t) const;
  std::span<std::byte> bytes(Index t) const;
  void begin(Index t);
  void pass_on(Index t);

  Ranks& ranks_;
  const RingLayout& layout_;
  int tag_;
  Index row_numbers_;
  std::function<void(Index, Index, real*)> fill_;
  Tensor room_;  // (window, tile * row_numbers)
  std::array<Slot, window> slots_;
  Index begun_ = 0, now_ = 0, own_ = 0;
};

}  // namespace tapestry
