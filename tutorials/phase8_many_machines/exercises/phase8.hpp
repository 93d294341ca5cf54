// The functions that the exercises of phase 8 ask for.
#pragma once

#include <functional>

#include "course/learn.hpp"

namespace tapestry {

// What some queries know of some keys (83a).
struct KeySums {
  Tensor top;    // (rows): the largest score of each query, -infinity if it saw no key
  Tensor total;  // (rows): the sum of exp(score - top), or 0
  Tensor mixed;  // (rows, d_v): the sum of exp(score - top) value, or 0
};

// Adds two numbers in that order (81a).
using Addition = std::function<double(double, double)>;

}  // namespace tapestry

namespace learn {

std::vector<real> ring_all_reduce(Ranks& ranks, std::vector<real> numbers);      // 80a
double fixed_tree_sum(const std::vector<double>& addends, const Addition& add);  // 81a
KeySums merge_tiles(const KeySums& a, const KeySums& b);                         // 83a
Index zig_zag_owner(Index tile, Index ranks);                                    // 86a

}  // namespace learn
