// AVX-512: 16 floats in each of 32 registers. Compile with -mavx2 -mfma -mavx512f -mavx512cd
// -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512.
#include "kernels/sets.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12's own intrinsics start from deliberately undefined registers and warn about it (PR 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(TAPESTRY_X86_KERNELS)
#include "kernels/simd_set.hpp"

namespace {
struct Avx512 : xsimd::avx512bw {};  // local to this file, with all its template instances
}  // namespace

namespace xsimd::types {
XSIMD_DECLARE_SIMD_REGISTER_ALIAS(Avx512, avx512bw);
template <class T>
struct get_bool_simd_register<T, Avx512> {
  using type = simd_avx512_bool_register<T>;  // comparisons give bit masks, not batches
};
}  // namespace xsimd::types

namespace tapestry::kernels {

void fill_avx512(Table& t) {
  t.name = "avx512";
  simd::fill<Avx512, 32>(t);
}

}  // namespace tapestry::kernels
#endif
