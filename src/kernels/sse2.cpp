// SSE2: 4 floats in each of 16 registers, no fused multiply-add; every x86-64 has it.
#include "kernels/sets.hpp"

#if defined(TAPESTRY_X86_KERNELS) || defined(TAPESTRY_WASM_KERNELS)
#include "kernels/simd_set.hpp"

namespace {
struct Sse2 : xsimd::sse2 {};  // local to this file, with all its template instances
}  // namespace

namespace xsimd::types {
XSIMD_DECLARE_SIMD_REGISTER_ALIAS(Sse2, sse2);
}  // namespace xsimd::types

namespace tapestry::kernels {

void fill_sse2(Table& t) {
  t.name = "sse2";
  simd::fill<Sse2, 16>(t);
}

}  // namespace tapestry::kernels
#endif
