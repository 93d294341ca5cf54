// Dropout: Philox (philox.hpp) on one block of four random words per 64-bit lane.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/simd_loops.hpp"

namespace tapestry::kernels::simd {

// Registers that are drawn side by side: while a round of one waits for its products, those of the
// others come. Together they draw whole groups.
inline constexpr int side_by_side = 4;
template <class A>
inline constexpr Index drawn_blocks = Index(Words<A>::size) * side_by_side;
template <class A>
inline constexpr Index drawn_numbers = 8 * drawn_blocks<A>;

template <class A>
TAPESTRY_INLINE Ints<A> pairs(const Words<A>& low, const Words<A>& high) {
  const Words<A> both = (low & Words<A>(std::uint64_t(0xFFFFFFFF))) | (high << 32);
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Ints<A>>(both);
#else
  return xsimd::bitwise_cast<std::int32_t>(both);
#endif
}

// Calls body(i, drawn) for each `lanes` of the drawn_numbers, from number i on; the upper halves of
// `drawn` are their 16 bits. The upper halves of a, b, c and d hold remainders of the products, and
// are never read.
template <class A, class Body>
TAPESTRY_INLINE void draw(const Words<A>& block, const RandomBlocks& random, Body body) {
  using W = Words<A>;
  W a[side_by_side];
  W b[side_by_side];
  W c[side_by_side];
  W d[side_by_side];
  for (int i = 0; i < side_by_side; ++i) {
    a[i] = block + W(std::uint64_t(i) * W::size);
    b[i] = a[i] >> 32;
    c[i] = W(random.stream);
    d[i] = W(random.stream >> 32);
  }
  std::uint32_t key0 = std::uint32_t(random.seed), key1 = std::uint32_t(random.seed >> 32);
#pragma GCC unroll 7
  for (int round = 0; round < Philox::fewest_rounds; ++round) {
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
  constexpr Index quarter = DropoutGroup::numbers / 4;
  static_assert(drawn_numbers<A> % DropoutGroup::numbers == 0 && quarter % lanes<A> == 0);
  for (int i = 0; i < side_by_side; ++i) {
    const Index first = i * lanes<A>;
    const Index at = first / quarter * DropoutGroup::numbers + first % quarter;
    const Ints<A> words[2] = {pairs<A>(a[i], c[i]), pairs<A>(b[i], d[i])};
    for (int half = 0; half < 2; ++half) {
      body(at + 2 * half * quarter, words[half] << 16);
      body(at + (2 * half + 1) * quarter, words[half]);
    }
  }
}

template <class A>
void dropout(const real* x, real* y, Index n, RandomBlocks random, std::uint32_t limit,
             real scale) {
  using I = Ints<A>;
  alignas(64) std::uint64_t number[Words<A>::size];
  for (std::size_t i = 0; i < Words<A>::size; ++i) number[i] = random.first + i;
  auto block = Words<A>::load_aligned(number);
  const auto bound = I(std::int32_t(limit - 0x8000) << 16), keep = bits<A>(Floats<A>(scale));
  const auto factor = [&](const I& drawn) {
    return from_bits<A>(xsimd::select(drawn < bound, I(0), keep));
  };
  const bool aligned = reinterpret_cast<std::uintptr_t>(y) % sizeof(Floats<A>) == 0;
  const bool stream = aligned && streams_whole(y, n, x);
  Index i = 0;
  const auto whole = [&](auto part) {
    for (; i + drawn_numbers<A> <= n; i += drawn_numbers<A>) {
      draw<A>(block, random, [&](Index at, const I& drawn) {
        store<A>(y + i + at, load<A>(x + i + at, part) * factor(drawn), part);
      });
      block += Words<A>(std::uint64_t(drawn_blocks<A>));
    }
  };
  stream ? whole(Stream{}) : whole(Full{});
  finish_stream(stream);
  if (i == n) return;
  alignas(64) float factors[drawn_numbers<A>];
  draw<A>(block, random,
          [&](Index at, const I& drawn) { factor(drawn).store_aligned(factors + at); });
  sweep<A>(n - i, [&](Index j, auto part) {
    store<A>(y + i + j, load<A>(x + i + j, part) * load<A>(factors + j, part), part);
  });
}

template <class A>
void fill_dropout(Table& t) {
  t.dropout = dropout<A>;
}

}  // namespace tapestry::kernels::simd
