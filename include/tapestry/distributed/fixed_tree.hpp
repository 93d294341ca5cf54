// Sums whose order does not depend on how many ranks share the work.
//
// Floating-point sums depend on their order. Here a sum of `count` addends is always that of one
// binary tree over them: a node [first, last) is the sum of [first, middle) and [middle, last),
// where middle - first is the largest power of two below last - first. A rank holds consecutive
// addends, and adds what lies below whole nodes of the tree; whoever has the nodes of all ranks
// makes the rest of the sum. So each addition is made once, with the same operands, whoever makes
// it.
#pragma once

#include <vector>

#include "tapestry/real.hpp"

namespace tapestry {

// A node of the tree: the addends [first, last) below it.
struct TreeNode {
  Index first = 0, last = 0;

  [[nodiscard]] Index count() const { return last - first; }
  [[nodiscard]] Index middle() const;  // where it is divided, of a node with two addends or more
  bool operator==(const TreeNode&) const = default;
};

// The addends of one of `ranks` ranks: consecutive ones, as many for each as possible. All ranks
// together have all of them.
[[nodiscard]] TreeNode share_of(Index count, int ranks, int rank);

// The largest nodes of the tree over `count` addends that lie within `share`, in their order: 0 for
// an empty share, at most 2 log2(count).
[[nodiscard]] std::vector<TreeNode> whole_nodes(Index count, const TreeNode& share);

// Numbers that stand at a node, of which some lie here: its own sum so far.
struct TreePart {
  TreeNode node;
  real* numbers;
};

// The sum at `node`, of `size` numbers each, made of the parts, whose nodes must be apart and cover
// it. Added in place: the sum stands where the first part stood, and that address is returned; the
// others' numbers below `node` are then of no use. Throws Error if a part is missing.
real* add_up(const TreeNode& node, const std::vector<TreePart>& parts, Index size);

// The same with one number for each addend. No addends: 0.
[[nodiscard]] double add_up(const std::vector<double>& addends);

}  // namespace tapestry
