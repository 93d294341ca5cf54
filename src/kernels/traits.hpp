// What an instruction set gives in its own way: declared and described here, defined for each set
// in a header of its own, traits_<set>.hpp. All else is made of these and of xsimd's batches.
//
// Every template here takes the instruction set as a tag type that its source file declares in an
// anonymous namespace. Whatever is instantiated with such a tag, xsimd's own templates included,
// is local to that file: the linker cannot pick its AVX code for the rest of the program. (NEON,
// which every AArch64 has, needs no such care.) tools/check_symbols looks at the result.
// Only files compiled for one instruction set include this header.
#pragma once

#include <cstring>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "kernels/sets.hpp"

namespace tapestry::kernels::simd {

template <class A>
using Floats = xsimd::batch<float, A>;
template <class A>
using Ints = xsimd::batch<std::int32_t, A>;
template <class A>
using Words = xsimd::batch<std::uint64_t, A>;
template <class A>
using Mask = xsimd::batch_bool<float, A>;

template <class A>
inline constexpr Index lanes = Index(Floats<A>::size);

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr std::int32_t sign_bit = std::numeric_limits<std::int32_t>::min();

// Adding this to |x| < 2^22 rounds x to an integer, which then stands in the lowest bits.
inline constexpr float rounder = 12582912.0f;  // 1.5 * 2^23
inline constexpr std::int32_t rounder_bits = 0x4B400000;
// With this one instead, a shift of the sum's bits by 23 to the left gives 2 to that integer, from
// -126 to 127 (and 0 for -127).
inline constexpr float exponent_rounder = rounder + 127.0f;

// What a loop's step takes of an array: a full batch, or the numbers that are left at its end.
struct Full {};
struct Tail {
  std::size_t count;  // 1 to lanes - 1
};

// ---- Bits: xsimd changed the spelling of this cast after version 8

template <class A>
TAPESTRY_INLINE Ints<A> bits(const Floats<A>& x) {
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Ints<A>>(x);
#else
  return xsimd::bitwise_cast<std::int32_t>(x);
#endif
}

template <class A>
TAPESTRY_INLINE Floats<A> from_bits(const Ints<A>& x) {
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Floats<A>>(x);
#else
  return xsimd::bitwise_cast<float>(x);
#endif
}

// ---- Arithmetic that xsimd leaves unfused or approximate on one set or another: version 8 never
// fuses on AVX-512; versions 8 to 13 divide and take roots on NEON by refined estimates only.

// a * b + c, and c - a * b, rounded once where the set can
template <class A>
TAPESTRY_INLINE Floats<A> multiply_add(const Floats<A>& a, const Floats<A>& b, const Floats<A>& c);
template <class A>
TAPESTRY_INLINE Floats<A> negative_multiply_add(const Floats<A>& a, const Floats<A>& b,
                                                const Floats<A>& c);
template <class A>
TAPESTRY_INLINE Floats<A> quotient(const Floats<A>& a, const Floats<A>& b);
template <class A>
TAPESTRY_INLINE Floats<A> square_root(const Floats<A>& x);

// The larger and the smaller of two in one instruction: b where either is NaN (NEON: NaN).
// xsimd's own drop a NaN on a side that differs between its versions.
template <class A>
TAPESTRY_INLINE Floats<A> larger(const Floats<A>& a, const Floats<A>& b);
template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b);

// c[0] + x c[1] + x^2 c[2] + ... by Horner's rule
template <class A, int count>
TAPESTRY_INLINE Floats<A> polynomial(const Floats<A>& x, const float (&c)[count]) {
  Floats<A> sum(c[count - 1]);
  for (int i = count - 2; i >= 0; --i) sum = multiply_add(sum, x, Floats<A>(c[i]));
  return sum;
}

// The same, even and odd powers apart (Horner's rule of second order, Knuth 1997, 4.6.4): a shorter
// chain, of 6 operations in place of 8 for 9 coefficients, but one multiplication more. Pays where
// what follows waits for the result.
template <class A, int count>
TAPESTRY_INLINE Floats<A> polynomial_even_odd(const Floats<A>& x, const float (&c)[count]) {
  static_assert(count >= 3 && count % 2 == 1);
  const Floats<A> square = x * x;
  Floats<A> even(c[count - 1]), odd(c[count - 2]);
  for (int i = count - 3; i != 0; i -= 2) {
    even = multiply_add(even, square, Floats<A>(c[i]));
    odd = multiply_add(odd, square, Floats<A>(c[i - 1]));
  }
  return multiply_add(odd, x, multiply_add(even, square, Floats<A>(c[0])));
}

// ---- Powers of two. A processor takes a hundred times as long for a denormal result, so none may
// come up on the way to a result of 0.

// number * 2^n for a number in [0.7, 1.5) and a whole n; power is n + rounder. 0 where x < least.
// n may be any whole number; infinity and denormals are among the results.
template <class A>
TAPESTRY_INLINE Floats<A> scaled(const Floats<A>& number, const Floats<A>& power,
                                 const Floats<A>& n, const Floats<A>& x, float least);

// 2^x for x <= 127; 0 below about -126, where results would be denormal. 2^x = 2^n 2^r with n near
// or below x.
template <class A>
TAPESTRY_INLINE Floats<A> exp2(const Floats<A>& x);

// ---- Memory

// The lanes beyond the array hold `fill`. The tail goes through the same arithmetic as everything
// else, so a number's bits do not depend on its place.
template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Tail tail, float fill = 0);
template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Tail tail);

// Past the caches; p is a multiple of a batch's size. Then, once at the end, makes such numbers
// visible to other threads before what follows.
template <class A>
TAPESTRY_INLINE void store_streamed(float* p, const Floats<A>& x);
TAPESTRY_INLINE void fence_streamed();

// ---- Lanes: xsimd's shuffles differ between versions and sets

// The lanes that stand `distance` apart, a power of two, exchanged; through memory it would take
// five times as long
template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x);
template <class A>
TAPESTRY_INLINE float first_lane(const Floats<A>& x);

// Four numbers: the unit that every instruction set shuffles cheaply.
typedef float Quad __attribute__((vector_size(16)));

// A batch made of quads, the first one lowest.
template <class A>
TAPESTRY_INLINE Floats<A> joined(const Quad* q);

// In each quad of the result: a0 b0 a1 b1, or a2 b2 a3 b3, of the same quad of a and b.
template <class A>
TAPESTRY_INLINE Floats<A> interleave_low(const Floats<A>& a, const Floats<A>& b);
template <class A>
TAPESTRY_INLINE Floats<A> interleave_high(const Floats<A>& a, const Floats<A>& b);

// The 64-bit products of the low halves of all lanes.
template <class A>
TAPESTRY_INLINE Words<A> product(const Words<A>& a, std::uint64_t b);

}  // namespace tapestry::kernels::simd

// Each also says whether it `loads_parts`, which is whether part of a batch can be loaded where it
// is.
#if defined(__AVX512F__)
#include "kernels/traits_avx512.hpp"
#elif defined(__AVX2__)
#include "kernels/traits_avx2.hpp"
#elif defined(__SSE2__)
#include "kernels/traits_sse2.hpp"
#else
#include "kernels/traits_neon64.hpp"
#endif
