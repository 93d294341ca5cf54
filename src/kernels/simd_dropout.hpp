// Dropout: Philox (philox.hpp) on one block of four random words per 64-bit lane.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

// Registers that are drawn side by side: while a round of one waits for its products, those of the
// others come.
inline constexpr int side_by_side = 4;

// Of each lane, which of the Words<A>::size blocks it draws: the order in which a quad of words
// leaves interleave_low and interleave_high.
template <class A>
TAPESTRY_INLINE Words<A> block_of_lane() {
  constexpr std::size_t size = Words<A>::size;
  alignas(64) std::uint64_t order[size];
  for (std::size_t i = 0; i < size; ++i) order[i] = i / 2 + i % 2 * (size / 2);
  return Words<A>::load_aligned(order);
}

template <class A>
TAPESTRY_INLINE Floats<A> pairs(const Words<A>& low, const Words<A>& high) {
  const Words<A> both = (low & Words<A>(std::uint64_t(0xFFFFFFFF))) | (high << 32);
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Floats<A>>(both);
#else
  return xsimd::bitwise_cast<float>(both);
#endif
}

// Four words of each block whose number is in `block`, in the order of the numbers. The high halves
// of the lanes of a, b, c and d hold remainders of the products, and are never read.
template <class A>
TAPESTRY_INLINE void draw(const Words<A> (&block)[side_by_side], const RandomWords& random,
                          float* words) {
  using W = Words<A>;
  W a[side_by_side];
  W b[side_by_side];
  W c[side_by_side];
  W d[side_by_side];
  for (int i = 0; i < side_by_side; ++i) {
    // after the last one, 2^62 - 1, the first, as in philox()
    a[i] = block[i] & W(std::uint64_t(0x3FFFFFFFFFFFFFFF));
    b[i] = a[i] >> 32;
    c[i] = W(random.stream);
    d[i] = W(random.stream >> 32);
  }
  std::uint32_t key0 = std::uint32_t(random.seed), key1 = std::uint32_t(random.seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < Philox::rounds; ++round) {
    for (int i = 0; i < side_by_side; ++i) {
      const W product0 = product<A>(a[i], Philox::multiplier0);
      const W product1 = product<A>(c[i], Philox::multiplier1);
      a[i] = (product1 >> 32) ^ b[i] ^ W(std::uint64_t(key0));
      b[i] = product1;
      c[i] = (product0 >> 32) ^ d[i] ^ W(std::uint64_t(key1));
      d[i] = product0;
    }
    key0 += Philox::step0;
    key1 += Philox::step1;
  }
  for (int i = 0; i < side_by_side; ++i, words += 2 * lanes<A>) {
    const Floats<A> even = pairs<A>(a[i], c[i]), odd = pairs<A>(b[i], d[i]);
    interleave_low<A>(even, odd).store_aligned(words);
    interleave_high<A>(even, odd).store_aligned(words + lanes<A>);
  }
}

template <class A>
void dropout(const real* x, real* y, Index n, RandomWords random, std::uint32_t limit, real scale) {
  using I = Ints<A>;
  using W = Words<A>;
  constexpr Index blocks = 64, drawn = Index(W::size) * side_by_side;
  alignas(64) float words[4 * blocks + lanes<A>] = {};  // a sweep may read behind them
  W block[side_by_side];
  for (int i = 0; i < side_by_side; ++i) {
    block[i] = block_of_lane<A>() + W(random.position / 4 + std::uint64_t(i) * W::size);
  }
  auto skip = Index(random.position % 4);
  // Signed comparison of numbers shifted by 2^31 is unsigned comparison.
  const I bound(std::int32_t(limit ^ 0x80000000u)), keep = bits<A>(Floats<A>(scale));
  for (Index done = 0; done < n; skip = 0) {
    for (Index i = 0; i < blocks; i += drawn) {
      draw<A>(block, random, words + 4 * i);
      for (W& numbers : block) numbers += W(std::uint64_t(drawn));
    }
    const Index left = n - done, here = 4 * blocks - skip, count = left < here ? left : here;
    sweep<A>(count, [&](Index i, auto part) {
      const I word = bits<A>(Floats<A>::load_unaligned(words + skip + i));
      const I factor = xsimd::select((word ^ I(sign_bit)) < bound, I(0), keep);
      store<A>(y + done + i, load<A>(x + done + i, part) * from_bits<A>(factor), part);
    });
    done += count;
  }
}

template <class A>
void fill_dropout(Table& t) {
  t.dropout = dropout<A>;
}

}  // namespace tapestry::kernels::simd
