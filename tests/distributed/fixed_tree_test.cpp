#include "tapestry/distributed/fixed_tree.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "tapestry/error.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

// The sum as a text with brackets, which shows its order.
std::string written(const TreeNode& node) {
  if (node.count() == 1) return std::to_string(node.first);
  return "(" + written({node.first, node.middle()}) + "+" + written({node.middle(), node.last}) +
         ")";
}

}  // namespace

TEST_CASE("the tree of a sum is fixed by the number of addends", "[distributed][phase8]") {
  CHECK(written({0, 1}) == "0");
  CHECK(written({0, 2}) == "(0+1)");
  CHECK(written({0, 3}) == "((0+1)+2)");
  CHECK(written({0, 5}) == "(((0+1)+(2+3))+4)");
  CHECK(written({0, 6}) == "(((0+1)+(2+3))+(4+5))");
  CHECK(written({0, 8}) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

TEST_CASE("whole nodes of all shares cover each addend once", "[distributed][phase8]") {
  for (Index count = 1; count <= 33; ++count) {
    for (int ranks = 1; ranks <= count; ++ranks) {
      Index next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const TreeNode share = share_of(count, ranks, rank);
        CHECK(share.first == next);
        const std::vector<TreeNode> nodes = whole_nodes(count, share);
        CHECK(nodes.size() >= 1);
        CHECK(nodes.size() <= 10);
        for (const TreeNode& node : nodes) {
          CHECK(node.first == next);
          next = node.last;
        }
        CHECK(next == share.last);
      }
      CHECK(next == count);
    }
  }
  CHECK(whole_nodes(8, {0, 8}) == std::vector<TreeNode>{{0, 8}});
  CHECK(whole_nodes(8, {2, 5}) == std::vector<TreeNode>{{2, 4}, {4, 5}});
  CHECK(whole_nodes(8, {3, 6}) == std::vector<TreeNode>{{3, 4}, {4, 6}});
  CHECK(whole_nodes(8, {3, 3}).empty());
  CHECK(whole_nodes(0, {0, 0}).empty());
}

TEST_CASE("sums of nodes have the bits of the whole tree", "[distributed][phase8]") {
  constexpr Index size = 37;
  for (const Index count : {1, 2, 3, 5, 7, 8, 13}) {
    Random random(static_cast<std::uint64_t>(count));
    std::vector<std::vector<real>> addends(static_cast<std::size_t>(count));
    for (auto& addend : addends) addend = random.normal({size}, 0, 1e3).values();
    std::vector<std::vector<real>> sums;
    for (int ranks = 1; ranks <= count; ++ranks) {
      std::vector<std::vector<real>> all = addends;
      const auto numbers = [&](Index i) { return all[static_cast<std::size_t>(i)].data(); };
      std::vector<TreePart> of_ranks;
      for (int rank = 0; rank < ranks; ++rank) {
        const TreeNode share = share_of(count, ranks, rank);
        std::vector<TreePart> leaves;
        for (Index i = share.first; i < share.last; ++i) leaves.push_back({{i, i + 1}, numbers(i)});
        for (const TreeNode& node : whole_nodes(count, share)) {
          of_ranks.push_back({node, add_up(node, leaves, size)});
        }
      }
      const real* const sum = add_up({0, count}, of_ranks, size);
      sums.emplace_back(sum, sum + size);
    }
    for (const auto& sum : sums) CHECK(sum == sums.front());
  }
}

TEST_CASE("sums of single numbers follow the same tree", "[distributed][phase8]") {
  CHECK(add_up(std::vector<double>{}) == 0);
  CHECK(add_up(std::vector<double>{3}) == 3);
  // 1e17 swallows a 1, and two of them together not.
  CHECK(add_up(std::vector<double>{1, 1e17, 1, 0}) == 1e17);
  CHECK(add_up(std::vector<double>{1e17, 0, 8, 8}) == 1e17 + 16);
  CHECK(add_up(std::vector<double>{1e17, 8, 8}) == 1e17);
}

TEST_CASE("a missing addend is named", "[distributed][phase8]") {
  real a = 1, b = 2;
  try {
    add_up({0, 3}, {{{0, 1}, &a}, {{2, 3}, &b}}, 1);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "add_up: addend 1 is missing: parts must cover the whole node.");
  }
}
