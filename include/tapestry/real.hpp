// The number type of the whole library, and the integer that counts elements.
#pragma once

#include <cstdint>

namespace tapestry {

#ifdef TAPESTRY_F64
using real = double;  // `make f64`: the same sources in double, for strict gradient checks
#else
using real = float;
#endif

using Index = std::int64_t;  // sizes, strides and positions; signed, so that differences are safe

}  // namespace tapestry
