// NEON on AArch64: 4 floats in each of 32 registers; every AArch64 has it.
#include "kernels/sets.hpp"

#if defined(TAPESTRY_NEON_KERNELS)
#include "kernels/simd_set.hpp"

namespace tapestry::kernels {

// No tag of its own, as the x86 sets have: xsimd's NEON code accepts only xsimd's own tag, and what
// leaks from this file runs on every AArch64.
void fill_neon64(Table& t) {
  t.name = "neon64";
  simd::fill<xsimd::neon64, 32>(t);
}

}  // namespace tapestry::kernels
#endif
