// The functions that the exercises of phase 6 ask for.
#pragma once

#include <functional>

#include "course/learn.hpp"

namespace tapestry {

// What some queries know of the keys that they have met so far (64b).
struct TileState {
  Tensor top;    // (rows): the largest score of each query
  Tensor total;  // (rows): the sum of exp(score - top)
  Tensor mixed;  // (rows, d_v): the sum of exp(score - top) value
};

// The gradients of a segment of two layers (6aa).
struct SegmentGradients {
  Tensor input;   // (n, d)
  Tensor w1, w2;  // (d, d) each
};

// The gradients of attention (6da).
struct TiledGradients {
  Tensor q, k, v;  // (length, d) each
};

// The score of a query that stands at position m and a key that stands at n; both (8) (60d).
using PairScore = std::function<double(const Tensor& query, Index m, const Tensor& key, Index n)>;

}  // namespace tapestry

namespace learn {

Tensor sinusoids(Index length, Index width);                                        // 60a
Tensor rotated(const Tensor& x, Index first);                                       // 60b
Tensor rotary_scores(const Tensor& q, const Tensor& k, Index first);                // 60b
Tensor distance_penalty(Index heads, Index length);                                 // 60c
bool depends_on_distance_only(const PairScore& score);                              // 60d
Tensor window_mask(Index length, Index width, bool causal);                         // 62a
Tensor prefix_attention(const Tensor& q, const Tensor& k, const Tensor& v);         // 63a
Tensor mixture_by_blocks(const Tensor& scores, const Tensor& values, Index block);  // 64a
TileState meet_tile(const TileState& before, const Tensor& q, const Tensor& k,
                    const Tensor& v);  // 64b
Tensor additive_scores(const Tensor& s, const Tensor& h, const Tensor& w, const Tensor& u,
                       const Tensor& v);  // 6ca
SegmentGradients segment_backward(const Tensor& input, const Tensor& w1, const Tensor& w2,
                                  const Tensor& d_output);  // 6aa
TiledGradients tiles_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Tensor& output, const Tensor& log_sums, const Tensor& d_output,
                              Index tile);                                  // 6da
Tensor grouped_queries(const Tensor& q, const Tensor& k, const Tensor& v);  // 6ea

}  // namespace learn
