#include "tapestry/nn/adapters.hpp"

#include <algorithm>
#include <utility>

#include "nn/adapted_maps.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

bool is_in(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known) {
  if (known.empty()) throw Error("add_adapters: the model has no blocks, and so no maps to adapt.");
  const std::string there = "this model's are " + listed(known) + ".";
  if (names.empty()) throw Error("add_adapters: no map is named; " + there);
  for (const std::string& name : names) {
    if (!is_in(known, name)) {
      throw Error("add_adapters: there is no map " + in_quotes(name) + "; " + there);
    }
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw Error("add_adapters: the map " + in_quotes(name) + " is named twice.");
    }
  }
}

}  // namespace

void add_adapters(Transformer& model, const AdapterOptions& o, Random& random) {
  if (has_adapters(model)) {
    throw Error("add_adapters: the model has adapters already: merge them first (merge_adapters).");
  }
  const auto maps = adaptable_maps(model);
  std::vector<std::string> known;
  for (const auto& one : maps) {
    if (!is_in(known, one.kind)) known.push_back(one.kind);
  }
  check_names(o.maps, known);
  std::vector<std::pair<Linear*, Lora>> made;  // all first, for one may be refused
  for (const auto& [kind, name, map] : maps) {
    if (!is_in(o.maps, kind)) continue;
    const Index in = map->weight.size(0), out = map->weight.size(1);
    made.emplace_back(map, Lora(in, out, o.rank, o.alpha, random));
  }
  for (const auto& [map, adapter] : made) map->adapter = adapter;
}

AdapterOptions adapter_options(const Transformer& model) {
  const auto maps = adaptable_maps(model);
  AdapterOptions options{.rank = 0, .maps = {}};
  for (const auto& [kind, name, map] : maps) {
    if (!map->adapter) continue;
    if (options.rank == 0) options.rank = map->adapter->rank();
    if (options.alpha == 0) options.alpha = map->adapter->alpha;
    if (!is_in(options.maps, kind)) options.maps.push_back(kind);
  }
  if (options.rank == 0) {
    throw Error("adapters: the model has none: give it some first (add_adapters).");
  }
  for (const auto& [kind, name, map] : maps) {
    const auto& one = map->adapter;
    const bool same = !one || (one->rank() == options.rank && one->alpha == options.alpha);
    if (same && one.has_value() == is_in(options.maps, kind)) continue;
    throw Error("adapters: at " + name +
                " the model's differ from its others: only those of one rank and alpha, at the "
                "same maps of all blocks, are described by AdapterOptions.");
  }
  return options;
}

bool has_adapters(const Transformer& model) { return !adapter_parameters(model).empty(); }

Parameters adapter_parameters(const Transformer& model) {
  Parameters list;
  for (const auto& [kind, name, map] : adaptable_maps(model)) {
    if (!map->adapter) continue;
    for (const Parameter& one : map->adapter->parameters(name + ".adapter.")) list.push_back(one);
  }
  return list;
}

void merge_adapters(Transformer& model) {
  std::vector<std::pair<Linear*, Tensor>> merged;  // all first, for memory may run out
  for (const auto& one : adaptable_maps(model)) {
    merged.emplace_back(one.map, one.map->merged());  // (in, out)
  }
  for (const auto& [map, weight] : merged) {
    map->weight = weight;
    map->adapter.reset();
  }
}

}  // namespace tapestry
