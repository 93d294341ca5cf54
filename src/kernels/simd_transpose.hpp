// Transposition inside registers.
#pragma once

#include "kernels/simd.hpp"

namespace tapestry::kernels::simd {

// The first `count` of four numbers at p, zeros behind.
TAPESTRY_INLINE Quad quad(const real* p, Index count) {
  Quad four = {0, 0, 0, 0};
  if (count >= 4) {
    std::memcpy(&four, p, sizeof four);
  } else if (count > 0) {
    std::memcpy(&four, p, std::size_t(count) * sizeof(real));
  }
  return four;
}

// Four columns of a batch of rows, transposed: line t holds column t. The quads of a batch come
// from every fourth row, so that it only transposes four such batches within their quads. `height`
// rows and `width` columns are there (both at least that many where they are whole).
template <class A, bool whole>
TAPESTRY_INLINE void turn(const real* from, Index row, Index height, Index width,
                          Floats<A> (&line)[4]) {
  constexpr int quads = int(lanes<A>) / 4;
  const Index far[4] = {0, 4 * row, 8 * row, 12 * row};
  Floats<A> part[4];
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t, from += row) {
    Quad parts[quads];
#pragma GCC unroll 4
    for (int i = 0; i < quads; ++i) {
      parts[i] = quad(from + far[i], whole ? 4 : 4 * i + t < height ? width : 0);
    }
    part[t] = joined<A>(parts);
  }
  const Floats<A> low_0 = interleave_low<A>(part[0], part[2]);
  const Floats<A> low_1 = interleave_low<A>(part[1], part[3]);
  const Floats<A> high_0 = interleave_high<A>(part[0], part[2]);
  const Floats<A> high_1 = interleave_high<A>(part[1], part[3]);
  line[0] = interleave_low<A>(low_0, low_1);
  line[1] = interleave_high<A>(low_0, low_1);
  line[2] = interleave_low<A>(high_0, high_1);
  line[3] = interleave_high<A>(high_0, high_1);
}

// to[c, r] = factor * from[r, c] for rows x columns numbers. Rows of `to` are whole batches: zeros
// follow the last of the `rows` numbers.
template <class A>
void transpose(const real* from, Index from_row, Index rows, Index columns, float factor, real* to,
               Index to_row) {
  for (Index r = 0; r < rows; r += lanes<A>, from += lanes<A> * from_row, to += lanes<A>) {
    for (Index c = 0; c < columns; c += 4) {
      const Index height = rows - r, width = columns - c < 4 ? columns - c : 4;
      Floats<A> line[4];
      if (height >= lanes<A> && width == 4) {
        turn<A, true>(from + c, from_row, height, width, line);
      } else {
        turn<A, false>(from + c, from_row, height, width, line);
      }
      for (Index t = 0; t < width; ++t) {
        (line[t] * Floats<A>(factor)).store_unaligned(to + (c + t) * to_row);
      }
    }
  }
}

}  // namespace tapestry::kernels::simd
