// Plans of graphs that look random, as they were at the last inspection: see snapshot.hpp.
#include "plot/layers.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

#include "catch.hpp"
#include "tapestry/plot/diagram.hpp"

namespace tapestry::plot {
namespace {

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 7919 + 13) {
    below(2);
    below(3);
  }
  unsigned below(unsigned end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state_ >> 33) % end);
  }

 private:
  std::uint64_t state_;
};

// 3 nodes or more, up to `most`; some have no links.
struct Graph {
  Graph(std::uint64_t seed, unsigned most) : numbers(seed) {
    const unsigned nodes = 3 + numbers.below(most - 2);
    for (unsigned i = 0; i < nodes; ++i) {
      const double width = 10.0 + numbers.below(30);
      extent.push_back({width, 10.0 + numbers.below(60)});
    }
    const unsigned rare = 2 + numbers.below(5);
    std::vector<std::size_t> order(nodes);
    for (unsigned i = 0; i < nodes; ++i) order[i] = i;
    for (unsigned i = nodes; i-- > 1;) std::swap(order[i], order[numbers.below(i + 1)]);
    for (unsigned i = 0; i < nodes; ++i) {
      for (unsigned j = i + 1; j < nodes; ++j) {
        if (numbers.below(rare) != 0) continue;
        links.push_back({order[i], order[j]});
        room.push_back(numbers.below(3) == 0 ? numbers.below(120) : 0);
      }
    }
  }

  Numbers numbers;
  std::vector<Size> extent;
  std::vector<Link> links;
  std::vector<double> room;
};

// Of places to a hundredth of a unit.
class Hash {
 public:
  void add(double place) {
    sum_ = (sum_ ^ static_cast<std::uint64_t>(std::llround(100 * place))) * 0x100000001B3u;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xCBF29CE484222325u;
};

TEST_CASE("plans of random graphs are as they were", "[phase1][plot]") {
  const std::pair<unsigned, std::uint64_t> graphs[] = {
      {7, 0x2C177CCAC3ED8563u},   {12, 0xE3852204BE18A6D5u},  {36, 0x54528211BA5F749Cu},
      {230, 0xB187F92F3115BD99u}, {270, 0x4D050A6A25678884u}, {361, 0x54A19D10B552AF7Bu},
      {383, 0x24CA95CAFCE36DB8u}, {1032, 0x326C56AFA6D3F289u}};
  for (const auto& [seed, expected] : graphs) {
    const Graph graph(seed, 14);
    const LayerPlan plan = place_in_layers(graph.extent, graph.links, graph.room, 46, 20);
    Hash hash;
    for (const NodePlace& node : plan.nodes) {
      hash.add(node.along);
      hash.add(node.across);
    }
    for (const std::vector<NodePlace>& passes : plan.passes) {
      for (const NodePlace& pass : passes) hash.add(pass.across);
    }
    CAPTURE(seed);
    CHECK(hash.sum() == expected);
  }
}

TEST_CASE("arrows of a random diagram end where they did", "[phase1][plot]") {
  const Graph graph(2, 9);
  Diagram d;
  for (const Size& size : graph.extent) {
    d.add({std::string(static_cast<std::size_t>(size.width) / 8, 'm'),
           std::vector<std::string>(static_cast<std::size_t>(size.height) % 4, "line")});
  }
  for (const Link& link : graph.links) d.connect(link.from, link.to);
  layout(d);
  Hash hash;
  for (const Arrow& arrow : d.arrows) {
    hash.add(arrow.path.front().y);
    hash.add(arrow.path.back().y);
  }
  CHECK(hash.sum() == 0x42E9013CD3F2F612u);
}

}  // namespace
}  // namespace tapestry::plot
