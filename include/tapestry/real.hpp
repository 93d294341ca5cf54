// The number type of the whole library, and the integer that counts elements.
#pragma once

#include <cstdint>

namespace tapestry {

// Tensor is a class of the inline namespace f32 or f64, so that the linker refuses a program built
// for the one and a library built for the other.
#ifdef TAPESTRY_F64
#define TAPESTRY_REAL f64
using real = double;  // `make f64`: the same sources in double, for strict gradient checks
#else
#define TAPESTRY_REAL f32
using real = float;
#endif

using Index = std::int64_t;  // sizes, strides and positions; signed, so that differences are safe

}  // namespace tapestry
