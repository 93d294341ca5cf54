// Positional encodings. Attention alone ignores positions: it treats its inputs as a set.
//
// Four kinds: a vector added to each word (learned, or sinusoids), queries and keys rotated by
// their position (rotary), and a number added to each score by distance (relative, ALiBi).
#pragma once

#include <string>

#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

enum class Positions {
  learned,     // a learned vector for each position, added to the words; none beyond max_length
  sinusoidal,  // sinusoidal_positions, added to the words
  none,        // none: only the causal mask depends on order
  rotary,      // rotary() of queries and keys in every layer
  relative,    // RelativeBias on the scores, learned per layer
  alibi,       // alibi_bias on the scores of every layer
};

// Sinusoids of wavelengths from 2 pi to 2 pi base (Vaswani et al. 2017, section 3.5):
//   p[pos, 2i] = sin(pos / base^(2i / width)),  p[pos, 2i + 1] = cos of the same
// Shape (length, width), for the positions first, first + 1, ...; an odd width ends with a sine.
// Throws Error for a negative length or position, a width below 1, or a base that is not above 0.
[[nodiscard]] Tensor sinusoidal_positions(Index length, Index width, Index first = 0,
                                          double base = 1e4);

// Which two numbers of a row are the two coordinates that rotary rotates. Weights learned with one
// layout do not work with the other; convert_rotary converts them.
enum class RotaryLayout {
  interleaved,  // 2i and 2i + 1, as in the paper; GPT-J, the original files of Llama
  half_split,   // i and i + width / 2; GPT-NeoX, Llama in Hugging Face transformers
};

// How the queries and keys of a layer are rotated.
struct RotaryOptions {
  double base = 1e4;
  Index width = 0;  // only the first `width` numbers of a head's row are rotated; 0 means all
  RotaryLayout layout = RotaryLayout::half_split;

  bool operator==(const RotaryOptions&) const = default;
};

// Rotary positions (Su et al. 2021): rotates pair i of the row at position pos by the angle
//   a = pos / base^(2i / width):   (x, y) -> (x cos a - y sin a, x sin a + y cos a)
// for the positions first, first + 1, ... With rotated queries and keys, the score of a query at m
// and a key at n depends on their positions by m - n alone. Position 0 is not rotated.
// x (..., length, width) -> the same shape. Throws Error for less than two axes, a width that is
// odd or 0, a negative position, or a base that is not above 0.
[[nodiscard]] Tensor rotary(const Tensor& x, RotaryLayout layout, Index first = 0,
                            double base = 1e4);

// W_Q or W_K (d_model, num_heads d_k), or its bias (heads d_k), learned with the layout `from`: its
// columns in the order that gives the same scores with `to`. Both maps must be converted; values
// and output have no layout. Throws Error unless the last axis is heads times an even number.
[[nodiscard]] Tensor convert_rotary(const Tensor& map, Index num_heads, RotaryLayout from,
                                    RotaryLayout to);

// The bucket of the distance offset = key - query, as in T5 (Raffel et al. 2020, section 2.1).
// Causal: distances 0 to buckets / 2 - 1 back have a bucket each; the others up to `max_distance`
// share buckets of exponentially growing width; all beyond share the last one, and later keys that
// of 0. Otherwise half of the buckets are for earlier keys, in the same way, and half for later
// keys. Throws Error for buckets below 2 (not causal: below 4), an odd number of them if not
// causal, and for a `max_distance` not above the distances that have a bucket each.
[[nodiscard]] Index relative_position_bucket(Index offset, bool is_causal, Index buckets = 32,
                                             Index max_distance = 128);

// A learned number for each bucket of distances and each head, added to the scores (Raffel et al.
// 2020; T5 shares one table among its layers).
struct RelativeBias : Module {
  Embedding table;  // (32, heads)
  bool is_causal;

  // Throws Error for heads below 1.
  RelativeBias(Index num_heads, bool is_causal, Random& random,
               Initializer initializer = init::normal);

  // For queries at first, first + 1, ... and keys at 0, 1, ... -> (heads, queries, keys).
  // Throws Error for a negative number.
  [[nodiscard]] Tensor operator()(Index queries, Index keys, Index first = 0) const;

  Members members() const override;
};

// The slopes of ALiBi (Press, Smith, Lewis 2022), shape (heads): 2^(-8 h / heads) for h = 1 ...
// heads, if heads is a power of two. Else those of the next lower power of two, and then, for the
// rest, the first, third, fifth ... of the next higher one.
// Throws Error for heads below 1.
[[nodiscard]] Tensor alibi_slopes(Index num_heads);

// -slope |query - key| for each head: a penalty that grows with distance. Queries at first, first
// + 1, ..., keys at 0, 1, ... -> (heads, queries, keys). No parameters.
// Throws Error for a negative number, and heads below 1.
[[nodiscard]] Tensor alibi_bias(Index num_heads, Index queries, Index keys, Index first = 0);

}  // namespace tapestry
