// Where a word stands. Attention alone cannot tell: it treats its inputs as a set.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

// Sinusoids of wavelengths from 2 pi to 20000 pi (Vaswani et al. 2017, section 3.5):
//   p[pos, 2i] = sin(pos / 10000^(2i / width)),  p[pos, 2i + 1] = cos of the same
// Shape (length, width), for the positions first, first + 1, ...; an odd width ends with a sine.
// Throws Error for a negative length or position, or a width below 1.
Tensor sinusoidal_positions(Index length, Index width, Index first = 0);

}  // namespace tapestry
