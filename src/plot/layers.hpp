// Layered placement of a graph, independent of how nodes are drawn.
#pragma once

#include <cstddef>
#include <vector>

#include "tapestry/plot/geometry.hpp"

namespace tapestry::plot {

struct Link {
  std::size_t from, to;
};

struct NodePlace {
  std::size_t layer;
  double along;   // centre, in the direction of the arrows
  double across;  // centre, at right angles to it
};

struct LayerPlan {
  std::vector<NodePlace> nodes;  // one per node
  // Per link: the places where it passes through the layers between its ends, in order.
  std::vector<std::vector<NodePlace>> passes;
  std::vector<double> layer_depth;  // thickness of every layer
  double along = 0, across = 0;     // total size
};

// `extent[i]` is the size of node i: width = along the arrows, height = across them. Between two
// layers lies `gap_along`, or the largest `link_room` (what a label needs) of the links that end
// there. Nodes of one layer are `gap_across` apart. Throws Error when links form a cycle.
LayerPlan place_in_layers(const std::vector<Size>& extent, const std::vector<Link>& links,
                          const std::vector<double>& link_room, double gap_along,
                          double gap_across);

}  // namespace tapestry::plot
