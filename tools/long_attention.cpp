// long_attention [POSITIONS [RANKS]]: one causal head of 64 over 262,144 positions, there and back:
// in one piece; under a limit of 80 % of the memory which that needs, where it fails; and by two
// ranks that each keep to this limit. Their output and gradients must have the same bits.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "course/timing.hpp"
#include "distributed/tags.hpp"
#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory_account.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 64;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

struct Outcome {
  std::size_t bytes = 0;  // the most in use by one rank
  double seconds = 0;
  std::uint64_t bits = 0;  // of the output and the gradients; on rank 0
};

// The rows of the tiles that this rank holds: each tile has a generator of its own.
Tensor own_rows(const RingLayout& layout, int rank, std::uint64_t seed) {
  const Tensor rows = Tensor::empty({layout.rows_of(rank), width});
  real* to = raw(rows);
  for (const Index t : layout.tiles_of(rank)) {
    const Tensor tile = Random(seed, std::uint64_t(t)).normal({layout.rows(t), width});
    to = std::copy_n(raw(tile), tile.numel(), to);
  }
  return rows;
}

// XXH3 of the rows of each own tile in all these tensors.
std::vector<std::uint64_t> tile_bits(const RingLayout& layout, int rank,
                                     const std::vector<Tensor>& results) {
  std::vector<std::uint64_t> all;
  Index first = 0;
  for (const Index t : layout.tiles_of(rank)) {
    std::uint64_t bits = 0;
    for (const Tensor& x : results) {
      const std::span numbers(raw(x) + first * width, std::size_t(layout.rows(t) * width));
      bits = fingerprint(std::as_bytes(numbers), bits);
    }
    all.push_back(bits);
    first += layout.rows(t);
  }
  return all;
}

// On rank 0 one number for the whole sequence, tile by tile; 0 on the others.
std::uint64_t all_bits(Ranks& ranks, const RingLayout& layout,
                       const std::vector<std::uint64_t>& mine) {
  constexpr int tag = tags::weights;
  if (ranks.rank() > 0) {
    Message sent = ranks.send(0, tag, std::as_bytes(std::span(mine)));
    ranks.wait(sent);
    return 0;
  }
  std::vector<std::uint64_t> all(std::size_t(layout.tiles()));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<Index> tiles = layout.tiles_of(rank);
    std::vector<std::uint64_t> theirs(rank == 0 ? mine : std::vector<std::uint64_t>(tiles.size()));
    if (rank > 0) {
      Message got = ranks.receive(rank, tag, std::as_writable_bytes(std::span(theirs)));
      ranks.wait(got);
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) all[std::size_t(tiles[i])] = theirs[i];
  }
  return fingerprint(std::as_bytes(std::span(all)));
}

Outcome attend(Ranks& ranks, Index length, std::size_t limit) {
  const double start = now();
  const MemoryAccount account(limit);
  const RingOptions options{.is_causal = true};
  const RingLayout layout(length, options.tile, ranks.size());
  const Tensor q = own_rows(layout, ranks.rank(), 1), k = own_rows(layout, ranks.rank(), 2);
  const Tensor v = own_rows(layout, ranks.rank(), 3), seed = own_rows(layout, ranks.rank(), 4);
  Tape tape({q, k, v});
  const Tensor y = ring_attention(ranks, q, k, v, length, options);
  const Gradients gradients = tape.backward(y, seed);
  const auto bits = tile_bits(layout, ranks.rank(), {y, gradients[q], gradients[k], gradients[v]});
  const double seconds = now() - start;
  return {account.peak_bytes(), seconds, all_bits(ranks, layout, bits)};
}

Outcome attend_by(int count, Index length, std::size_t limit) {
  std::vector<Outcome> each(static_cast<std::size_t>(count));
  const int threads = std::max(1, threads_in_use() / count);
  run_as_threads(count, [&](Ranks& ranks) {
    use_threads(threads);
    each[static_cast<std::size_t>(ranks.rank())] = attend(ranks, length, limit);
  });
  Outcome all = each[0];
  for (const Outcome& one : each) all.bytes = std::max(all.bytes, one.bytes);
  return all;
}

double megabytes(std::size_t bytes) { return double(bytes) / 1e6; }

int compare(Index length, int count) {
  std::printf("one causal head of %d, %ld positions, output and gradients\n", int(width),
              long(length));
  const Outcome one = attend_by(1, length, no_limit);
  std::printf("  1 rank    %7.1f MB              %6.1f s\n", megabytes(one.bytes), one.seconds);
  const std::size_t limit = one.bytes / 10 * 8;
  try {
    attend_by(1, length, limit);
    std::printf("  1 rank    stays below %.1f MB, which it should not\n", megabytes(limit));
    return 1;
  } catch (const Error& error) {
    std::printf("  1 rank    limit %.1f MB: %s\n", megabytes(limit), error.what());
  }
  const Outcome more = attend_by(count, length, limit);
  std::printf("  %d ranks   %7.1f MB each (%2.0f %%)  %6.1f s, limit %.1f MB\n", count,
              megabytes(more.bytes), 100.0 * double(more.bytes) / double(one.bytes), more.seconds,
              megabytes(limit));
  std::printf("  %s\n", more.bits == one.bits ? "the same bits" : "the bits differ");
  return more.bits == one.bits ? 0 : 1;
}

}  // namespace

int main(int arguments, char** argument) {
  const Index length = arguments > 1 ? std::atol(argument[1]) : 262144;
  const int count = arguments > 2 ? std::atoi(argument[2]) : 2;
  try {
    return compare(length, count);
  } catch (const Error& error) {
    std::fprintf(stderr, "long_attention: %s\n", error.what());
    return 1;
  }
}
