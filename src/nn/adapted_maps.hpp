// The maps of a transformer that may have adapters, by name.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

template <class Map>  // Linear, or const Linear
struct NamedMap {
  std::string kind;  // "query"
  std::string name;  // "blocks.0.attention.query", as in the names of parameters
  Map* map;
};

// In the order of parameters().
template <class Model>  // Transformer, or const Transformer
auto adaptable_maps(Model& model) {
  using Map = std::conditional_t<std::is_const_v<Model>, const Linear, Linear>;
  std::vector<NamedMap<Map>> list;
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    auto& block = model.blocks[i];
    const std::string name = "blocks." + std::to_string(i);
    const auto add = [&](const char* layer, const char* kind, Map& map) {
      list.push_back({kind, name + "." + layer + "." + kind, &map});
    };
    add("attention", "query", block.attention.query);
    add("attention", "key", block.attention.key);
    add("attention", "value", block.attention.value);
    add("attention", "output", block.attention.output);
    if (!block.feed_forward) continue;
    if (block.feed_forward->gate) add("feed_forward", "gate", *block.feed_forward->gate);
    add("feed_forward", "up", block.feed_forward->up);
    add("feed_forward", "down", block.feed_forward->down);
  }
  return list;
}

}  // namespace tapestry
