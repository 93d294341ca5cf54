// The functions that the exercises of phase 7 ask for.
#pragma once

#include <vector>

#include "course/learn.hpp"

namespace tapestry {

// A piece of a text, about a word, as ids of tokens; the text has it so many times (70a).
struct CountedPiece {
  std::vector<Index> tokens;
  Index count = 1;
};

// Two neighbours (70a).
struct TokenPair {
  Index left = 0, right = 0;
};

// Where `left` stands directly before `right`, both together become `made` (70b, 70c).
struct TokenMerge {
  Index left = 0, right = 0, made = 0;
};

// A layer of attention, with what it computed of a text of n tokens (78a).
struct SeenAttention {
  Tensor weights;  // (heads, n, n): queries by keys
  Tensor values;   // (heads, n, d)
  Tensor w_o;      // (heads d, d_model): the d numbers of head 0 come first, then those of head 1
  Tensor b_o;      // (d_model)
};

// What comes behind the last layer, and what it read (78a).
struct ModelEnd {
  Tensor stream;       // (n, d_model): the residual stream that the last norm reads
  Tensor gain;         // (d_model), of the last norm, an RMS norm
  double eps = 1e-5;   // of the same
  Tensor unembedding;  // (d_model, tokens)
};

// A linear map that stays as it is, and what it learned beside that (76a, 76b).
struct AdaptedMap {
  Tensor w;          // (in, out), fixed
  Tensor a, b;       // (in, rank), (rank, out)
  double alpha = 1;  // the adapter counts alpha / rank times
};

}  // namespace tapestry

namespace learn {

Tensor pair_counts(const std::vector<CountedPiece>& pieces, Index tokens);             // 70a
TokenPair pair_to_merge(const std::vector<CountedPiece>& pieces, Index tokens);        // 70a
std::vector<Index> merged(const std::vector<Index>& tokens, const TokenMerge& merge);  // 70b
std::vector<Index> encoded(const std::vector<Index>& tokens,
                           const std::vector<TokenMerge>& merges);  // 70c

Tensor rms_norm_forward(const Tensor& x, const Tensor& gain, double eps);                  // 71a
Tensor swiglu(const Tensor& x, const Tensor& gate, const Tensor& up, const Tensor& down);  // 71b
Tensor rotated_halves(const Tensor& x, Index first);                                       // 71c
Tensor columns_for_halves(const Tensor& w, Index heads);                                   // 71c
Tensor pooled_groups(const Tensor& w, Index heads, Index groups);                          // 71d

// 78a
Tensor direct_contributions(const SeenAttention& layer, const ModelEnd& end, Index token,
                            Index against);

Tensor adapted(const Tensor& x, const AdaptedMap& map);  // 76a
// 76b
Tensor adapter_step(AdaptedMap& map, const Tensor& x, const Tensor& dy, double rate);

}  // namespace learn
