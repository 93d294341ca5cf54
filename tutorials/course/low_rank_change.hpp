// How much of what training changed in a model's maps has a low rank.
//
// Every change D = W_after - W_before of a map is a sum of products of a column and a row, each
// with a singular value, the largest first: D = sum_i s_i u_i v_i^T. The first r of them are the
// matrix of rank r that is closest to D (Eckart & Young 1936), and s_1^2 + ... + s_r^2 is its share
// of |D|^2 (all numbers squared).
#pragma once

#include <cstdint>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// The mean of that share over all maps of all blocks (attention and feed-forward), from 0 to 1.
// Both models have the same options.
double share_of_change(const Transformer& before, const Transformer& after, Index rank);

// What to compare it with: random changes of the same shapes, whose numbers are all drawn from one
// normal distribution.
double share_of_random(const Transformer& like, Index rank, std::uint64_t seed = 5);

// A model like `after` in which each map changed by the first `rank` alone; 0: not at all. What is
// no map (embeddings, norms, biases, logits) is as in `after`.
Transformer with_rank(const Transformer& before, const Transformer& after, Index rank);

}  // namespace tapestry
