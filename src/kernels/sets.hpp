// The sets of kernels. Each instruction set is one source file with one function, which replaces
// the entries that it does faster; a file whose instruction set the build does not aim at is empty.
#pragma once

#include "kernels/table.hpp"

// SIMD sets work on float; the double build (TAPESTRY_F64) has the reference only.
#if !defined(TAPESTRY_F64) && defined(__x86_64__)
#define TAPESTRY_X86_KERNELS 1
#elif !defined(TAPESTRY_F64) && defined(__aarch64__)
#define TAPESTRY_NEON_KERNELS 1
#elif !defined(TAPESTRY_F64) && defined(__wasm_simd128__)
#define TAPESTRY_WASM_KERNELS 1  // those of SSE2, which emscripten translates
#endif

namespace tapestry::kernels {

void fill_reference(Table& table);
void fill_sse2(Table& table);    // any x86-64
void fill_avx2(Table& table);    // AVX2 and FMA
void fill_avx512(Table& table);  // AVX-512 F, DQ, BW and VL
void fill_neon64(Table& table);  // any AArch64

// The usable set of this name. Throws Error, naming those that can run here, when it is unknown or
// cannot run here.
const Table& find(const char* name);

// What TAPESTRY_KERNELS chooses: the set that it names, or the fastest where it is empty or null.
const Table& chosen_by(const char* wish);

// Makes `active()` return this set (one of `usable()`) from now on: for tests and benches, not
// while another thread computes.
void use(const Table& table);

}  // namespace tapestry::kernels
