// Everything an instruction set overrides, in one call.
#pragma once

#include "kernels/simd_attention_backward.hpp"
#include "kernels/simd_dropout.hpp"
#include "kernels/simd_elementwise.hpp"
#include "kernels/simd_matmul.hpp"
#include "kernels/simd_norm.hpp"
#include "kernels/simd_reduce.hpp"
#include "kernels/simd_rms_norm.hpp"
#include "kernels/simd_rows.hpp"

namespace tapestry::kernels::simd {

// `registers` is how many SIMD registers the instruction set has: it sizes the tile of a product.
template <class A, int registers>
void fill(Table& t) {
  fill_elementwise<A>(t);
  fill_reductions<A>(t);
  fill_rows<A>(t);
  fill_norm<A>(t);
  fill_rms_norm<A>(t);
  fill_dropout<A>(t);
  fill_matmul<A, registers>(t);
  t.attention = attention<A, registers>;
  t.attention_backward = attention_backward<A, registers>;
}

}  // namespace tapestry::kernels::simd
