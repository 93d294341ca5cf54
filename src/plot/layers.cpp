#include "plot/layers.hpp"

#include <algorithm>
#include <limits>

#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double pass_width = 12;  // width for a link that passes through a layer

// The graph with a dummy node wherever a link crosses a layer.
struct LayeredGraph {
  std::vector<std::size_t> layer;
  std::vector<Size> extent;
  std::vector<std::vector<std::size_t>> before, after;  // neighbours in the layer before, after
  std::vector<std::vector<std::size_t>> order;          // the nodes of each layer, sorted across
  std::vector<std::vector<std::size_t>> chain;          // per link: its dummy nodes
  std::vector<double> across;
};

// The longest path from a node without incoming links (Kahn's order; what remains is a cycle).
std::vector<std::size_t> longest_paths(std::size_t nodes, const std::vector<Link>& links) {
  std::vector<std::size_t> layer(nodes, 0), open(nodes, 0), ready;
  for (const Link& link : links) ++open[link.to];
  for (std::size_t i = 0; i < nodes; ++i) {
    if (open[i] == 0) ready.push_back(i);
  }
  for (std::size_t done = 0; done < ready.size(); ++done) {
    for (const Link& link : links) {
      if (link.from != ready[done]) continue;
      layer[link.to] = std::max(layer[link.to], layer[link.from] + 1);
      if (--open[link.to] == 0) ready.push_back(link.to);
    }
  }
  if (ready.size() < nodes) {
    throw Error("diagram: the arrows form a cycle; remove one of them");
  }
  return layer;
}

// A source that is first used late is drawn just before its first use.
void pull_sources_forward(std::vector<std::size_t>& layer, const std::vector<Link>& links) {
  std::vector<bool> has_input(layer.size(), false);
  for (const Link& link : links) has_input[link.to] = true;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    std::size_t first_use = layer.size();
    for (const Link& link : links) {
      if (link.from == i) first_use = std::min(first_use, layer[link.to]);
    }
    if (!has_input[i] && first_use < layer.size()) layer[i] = first_use - 1;
  }
}

void join(LayeredGraph& graph, std::size_t from, std::size_t to) {
  graph.after[from].push_back(to);
  graph.before[to].push_back(from);
}

std::size_t add_pass(LayeredGraph& graph, std::size_t layer) {
  graph.layer.push_back(layer);
  graph.extent.push_back({0, pass_width});
  graph.before.emplace_back();
  graph.after.emplace_back();
  return graph.layer.size() - 1;
}

LayeredGraph cut_links(const std::vector<Size>& extent, const std::vector<Link>& links) {
  LayeredGraph graph;
  graph.layer = longest_paths(extent.size(), links);
  pull_sources_forward(graph.layer, links);
  graph.extent = extent;
  graph.before.resize(extent.size());
  graph.after.resize(extent.size());
  for (const Link& link : links) {
    std::vector<std::size_t> chain;
    std::size_t previous = link.from;
    for (std::size_t l = graph.layer[link.from] + 1; l < graph.layer[link.to]; ++l) {
      chain.push_back(add_pass(graph, l));
      join(graph, previous, chain.back());
      previous = chain.back();
    }
    join(graph, previous, link.to);
    graph.chain.push_back(std::move(chain));
  }
  const std::size_t last = *std::max_element(graph.layer.begin(), graph.layer.end());
  graph.order.resize(last + 1);
  for (std::size_t i = 0; i < graph.layer.size(); ++i) graph.order[graph.layer[i]].push_back(i);
  graph.across.resize(graph.layer.size());
  return graph;
}

// Crossings between neighbouring layers, given each node's rank in its layer.
std::size_t count_crossings(const LayeredGraph& graph) {
  std::vector<std::size_t> rank(graph.layer.size());
  for (const auto& layer : graph.order) {
    for (std::size_t k = 0; k < layer.size(); ++k) rank[layer[k]] = k;
  }
  std::size_t crossings = 0;
  for (const auto& layer : graph.order) {
    for (std::size_t a = 0; a < layer.size(); ++a) {
      for (std::size_t b = a + 1; b < layer.size(); ++b) {
        for (const std::size_t p : graph.after[layer[a]]) {
          for (const std::size_t q : graph.after[layer[b]]) crossings += rank[p] > rank[q] ? 1 : 0;
        }
      }
    }
  }
  return crossings;
}

// Sorts one layer by the mean rank of its neighbours on one side; nodes without any keep theirs.
void sort_by_neighbours(LayeredGraph& graph, std::size_t l, bool back) {
  std::vector<double> rank(graph.layer.size()), wanted(graph.layer.size());
  for (const auto& layer : graph.order) {
    for (std::size_t k = 0; k < layer.size(); ++k) rank[layer[k]] = static_cast<double>(k);
  }
  for (const std::size_t node : graph.order[l]) {
    const auto& near = back ? graph.before[node] : graph.after[node];
    double sum = 0;
    for (const std::size_t other : near) sum += rank[other];
    wanted[node] = near.empty() ? rank[node] : sum / static_cast<double>(near.size());
  }
  std::stable_sort(graph.order[l].begin(), graph.order[l].end(),
                   [&](std::size_t p, std::size_t q) { return wanted[p] < wanted[q]; });
}

void reduce_crossings(LayeredGraph& graph) {
  auto best = graph.order;
  std::size_t fewest = count_crossings(graph);
  for (int sweep = 0; sweep < 8 && fewest > 0; ++sweep) {
    const std::size_t layers = graph.order.size();
    for (std::size_t k = 1; k < layers; ++k) {
      sort_by_neighbours(graph, sweep % 2 == 0 ? k : layers - 1 - k, sweep % 2 == 0);
    }
    const std::size_t crossings = count_crossings(graph);
    if (crossings < fewest) {
      fewest = crossings;
      best = graph.order;
    }
  }
  graph.order = best;
}

double needed_between(const LayeredGraph& graph, std::size_t p, std::size_t q, double gap) {
  return (graph.extent[p].height + graph.extent[q].height) / 2 + gap;
}

// The preferred position of a node, and its weight.
struct Preference {
  double across = 0, weight = 1;
};

// Moves nodes to their preferred positions, keeping order and distances: groups that would overlap
// take the weighted mean of their members' preferences (pool adjacent violators).
void place_layer(LayeredGraph& graph, const std::vector<std::size_t>& nodes,
                 const std::vector<Preference>& preferences, double gap) {
  struct Group {
    double sum, weight;  // of preferred positions, each less its node's offset from the first
    std::size_t count, first;
    double position() const { return sum / weight; }
  };
  std::vector<double> offset(nodes.size());
  std::vector<Group> groups;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (k > 0) offset[k] = offset[k - 1] + needed_between(graph, nodes[k - 1], nodes[k], gap);
    const Preference preference = preferences[k];
    groups.push_back(
        {preference.weight * (preference.across - offset[k]), preference.weight, 1, k});
    while (groups.size() > 1 && groups[groups.size() - 2].position() > groups.back().position()) {
      Group& merged = groups[groups.size() - 2];
      merged.sum += groups.back().sum;
      merged.weight += groups.back().weight;
      merged.count += groups.back().count;
      groups.pop_back();
    }
  }
  for (const Group& group : groups) {
    for (std::size_t k = group.first; k < group.first + group.count; ++k) {
      graph.across[nodes[k]] = group.position() + offset[k];
    }
  }
}

// The weight of a link's slope: long links should run straight, and so should those that are the
// only one at both ends.
double pull(const LayeredGraph& graph, std::size_t from, std::size_t to, std::size_t boxes) {
  const int passes = (from >= boxes ? 1 : 0) + (to >= boxes ? 1 : 0);
  if (passes > 0) return passes == 2 ? 16 : 4;
  return graph.after[from].size() == 1 && graph.before[to].size() == 1 ? 24 : 1;
}

Preference preference_of(const LayeredGraph& graph, std::size_t node, std::size_t boxes) {
  double sum = 0, weight = 0;
  const auto add = [&](std::size_t other, double strength) {
    sum += strength * graph.across[other];
    weight += strength;
  };
  for (const std::size_t other : graph.before[node]) add(other, pull(graph, other, node, boxes));
  for (const std::size_t other : graph.after[node]) add(other, pull(graph, node, other, boxes));
  return weight == 0 ? Preference{graph.across[node], 1} : Preference{sum / weight, weight};
}

// Each node moves to the weighted mean of its neighbours. Layer by layer this lowers the sum of
// weighted squared slopes, so it converges.
void straighten(LayeredGraph& graph, std::size_t boxes, double gap) {
  const std::size_t layers = graph.order.size();
  for (int sweep = 0; sweep < 600; ++sweep) {
    for (std::size_t k = 0; k < layers; ++k) {
      const std::size_t l = sweep % 2 == 0 ? k : layers - 1 - k;
      std::vector<Preference> preferences;
      for (const std::size_t node : graph.order[l]) {
        preferences.push_back(preference_of(graph, node, boxes));
      }
      place_layer(graph, graph.order[l], preferences, gap);
    }
  }
}

void place_across(LayeredGraph& graph, std::size_t boxes, double gap) {
  for (const auto& layer : graph.order) {
    place_layer(graph, layer, std::vector<Preference>(layer.size()), gap);
  }
  straighten(graph, boxes, gap);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < graph.across.size(); ++i) {
    least = std::min(least, graph.across[i] - graph.extent[i].height / 2);
  }
  for (double& across : graph.across) across -= least;
}

// Fills in the sizes of the plan; returns the centre of every layer.
std::vector<double> place_along(const LayeredGraph& graph, const std::vector<double>& gap,
                                LayerPlan& plan) {
  const std::size_t layers = graph.order.size();
  plan.layer_depth.assign(layers, 0);
  for (std::size_t i = 0; i < graph.layer.size(); ++i) {
    double& depth = plan.layer_depth[graph.layer[i]];
    depth = std::max(depth, graph.extent[i].width);
    plan.across = std::max(plan.across, graph.across[i] + graph.extent[i].height / 2);
  }
  std::vector<double> centre(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    centre[l] = plan.along + plan.layer_depth[l] / 2;
    plan.along += plan.layer_depth[l] + (l + 1 < layers ? gap[l] : 0);
  }
  return centre;
}

}  // namespace

LayerPlan place_in_layers(const std::vector<Size>& extent, const std::vector<Link>& links,
                          const std::vector<double>& link_room, double gap_along,
                          double gap_across) {
  LayeredGraph graph = cut_links(extent, links);
  reduce_crossings(graph);
  place_across(graph, extent.size(), gap_across);
  std::vector<double> gap(graph.order.size(), gap_along);
  for (std::size_t i = 0; i < links.size(); ++i) {  // the label is in the last gap
    double& room = gap[graph.layer[links[i].to] - 1];
    room = std::max(room, link_room[i]);
  }
  LayerPlan plan;
  const std::vector<double> centre = place_along(graph, gap, plan);
  const auto place = [&](std::size_t i) {
    return NodePlace{graph.layer[i], centre[graph.layer[i]], graph.across[i]};
  };
  for (std::size_t i = 0; i < extent.size(); ++i) plan.nodes.push_back(place(i));
  for (const auto& chain : graph.chain) {
    std::vector<NodePlace> passes;
    for (const std::size_t node : chain) passes.push_back(place(node));
    plan.passes.push_back(std::move(passes));
  }
  return plan;
}

}  // namespace tapestry::plot
