// AVX2 and FMA: 8 floats in each of 16 registers. Compile with -mavx2 -mfma.
#include "kernels/sets.hpp"

#if defined(TAPESTRY_X86_KERNELS)
#include "kernels/simd_set.hpp"

namespace {
struct Avx2 : xsimd::fma3<xsimd::avx2> {};  // local to this file, with all its template instances
}  // namespace

namespace xsimd::types {
XSIMD_DECLARE_SIMD_REGISTER_ALIAS(Avx2, fma3<xsimd::avx2>);
}  // namespace xsimd::types

namespace tapestry::kernels {

void fill_avx2(Table& t) {
  t.name = "avx2";
  simd::fill<Avx2, 16>(t);
}

}  // namespace tapestry::kernels
#endif
