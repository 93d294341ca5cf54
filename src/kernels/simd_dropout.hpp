// Dropout: Philox (philox.hpp) on one block of four random words per 64-bit lane.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

// Four words each of as many blocks as there are lanes, their numbers in `block`. The high halves
// of the lanes of a, b, c and d hold remainders of the products, and are never read.
template <class A>
TAPESTRY_INLINE void draw(const Words<A>& block, const RandomWords& random, std::uint64_t* words) {
  using W = Words<A>;
  constexpr int count = int(W::size);
  const W number =
      block & W(~std::uint64_t(0) / 4);  // after the last one the first, as in philox()
  W a = number, b = number >> 32, c(random.stream), d(random.stream >> 32);
  std::uint32_t key0 = std::uint32_t(random.seed), key1 = std::uint32_t(random.seed >> 32);
  for (int round = 0; round < Philox::rounds; ++round) {
    const W product0 = product<A>(a, Philox::multiplier0);
    const W product1 = product<A>(c, Philox::multiplier1);
    a = (product1 >> 32) ^ b ^ W(std::uint64_t(key0));
    b = product1;
    c = (product0 >> 32) ^ d ^ W(std::uint64_t(key1));
    d = product0;
    key0 += Philox::step0;
    key1 += Philox::step1;
  }
  const W low(std::uint64_t(0xFFFFFFFF));
  alignas(64) std::uint64_t pairs[2][count];
  ((a & low) | (b << 32)).store_aligned(pairs[0]);
  ((c & low) | (d << 32)).store_aligned(pairs[1]);
  for (int i = 0; i < count; ++i) {
    words[2 * i] = pairs[0][i];
    words[2 * i + 1] = pairs[1][i];
  }
}

template <class A>
void dropout(const real* x, real* y, Index n, RandomWords random, std::uint32_t limit, real scale) {
  using I = Ints<A>;
  constexpr Index blocks = 64, blocks_at_once = Index(Words<A>::size);
  alignas(64) std::uint64_t buffer[2 * blocks + 8];  // words two by two; the rest is never used
  std::uint32_t words[4 * blocks + 16] = {};
  for (Index i = 0; i < blocks_at_once; ++i) buffer[i] = random.position / 4 + std::uint64_t(i);
  Words<A> block = Words<A>::load_aligned(buffer);
  auto skip = Index(random.position % 4);
  // Signed comparison of numbers shifted by 2^31 is unsigned comparison.
  const I bound(std::int32_t(limit ^ 0x80000000u)), keep = bits<A>(Floats<A>(scale));
  for (Index done = 0; done < n; skip = 0) {
    for (Index i = 0; i < blocks; i += blocks_at_once) {
      draw<A>(block, random, buffer + 2 * i);
      block += Words<A>(std::uint64_t(blocks_at_once));
    }
    std::memcpy(words, buffer, 4 * blocks * sizeof(std::uint32_t));
    const Index left = n - done, here = 4 * blocks - skip, count = left < here ? left : here;
    sweep<A>(count, [&](Index i, auto part) {
      const I word = I::load_unaligned(reinterpret_cast<const std::int32_t*>(words) + skip + i);
      const I factor = xsimd::select((word ^ I(sign_bit)) < bound, I(0), keep);
      store<A>(y + done + i, load<A>(x + done + i, part) * from_bits<A>(factor), part);
    });
    done += count;
  }
}

template <class A>
void fill_dropout(Table& t) {
  if constexpr (multiplies_words) t.dropout = dropout<A>;
}

}  // namespace tapestry::kernels::simd
