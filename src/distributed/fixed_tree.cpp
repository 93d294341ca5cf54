#include "tapestry/distributed/fixed_tree.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "kernels/parallel_all.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

Index TreeNode::middle() const {
  return first + Index(std::bit_floor(static_cast<std::uint64_t>(count() - 1)));
}

TreeNode share_of(Index count, int ranks, int rank) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

namespace {

void find_whole(const TreeNode& node, const TreeNode& share, std::vector<TreeNode>& found) {
  if (node.last <= share.first || share.last <= node.first) return;
  if (share.first <= node.first && node.last <= share.last) {
    found.push_back(node);
    return;
  }
  find_whole({node.first, node.middle()}, share, found);
  find_whole({node.middle(), node.last}, share, found);
}

void add_into(real* sum, const real* more, Index size) {
  const kernels::Sizes sizes{1, {size}};
  const Index every = 1;
  kernels::binary(kernels::active().of<kernels::Add>(), sizes, sum, &every, more, &every, sum);
}

double add_up(const std::vector<double>& addends, const TreeNode& node) {
  if (node.count() == 1) return addends[static_cast<std::size_t>(node.first)];
  return add_up(addends, {node.first, node.middle()}) + add_up(addends, {node.middle(), node.last});
}

}  // namespace

std::vector<TreeNode> whole_nodes(Index count, const TreeNode& share) {
  std::vector<TreeNode> found;
  find_whole({0, count}, share, found);
  return found;
}

real* add_up(const TreeNode& node, const std::vector<TreePart>& parts, Index size) {
  const auto part = std::find_if(parts.begin(), parts.end(),
                                 [&](const TreePart& one) { return one.node == node; });
  if (part != parts.end()) return part->numbers;
  if (node.count() < 2) {
    throw Error("add_up: addend " + std::to_string(node.first) +
                " is missing: parts must cover the whole node.");
  }
  real* const sum = add_up({node.first, node.middle()}, parts, size);
  add_into(sum, add_up({node.middle(), node.last}, parts, size), size);
  return sum;
}

double add_up(const std::vector<double>& addends) {
  return addends.empty() ? 0 : add_up(addends, {0, static_cast<Index>(addends.size())});
}

}  // namespace tapestry
