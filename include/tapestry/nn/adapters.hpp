// A model that goes on learning by few numbers: its own stay as they are, and beside some of its
// maps stand low-rank adapters, which learn (LoRA; Hu et al. 2021).
//
//   Transformer model = read_model("stories260K");
//   add_adapters(model, {.rank = 4}, random);          // of queries and values
//   Adam adam(adapter_parameters(model));              // all else stays fixed
//   ...
//   write_adapters("mine.safetensors", model);         // io/adapter_file.hpp: a small file
//   merge_adapters(model);                             // or: one weight for each map again
//   write_model("mine", model, "llama");
#pragma once

#include <string>
#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

struct AdapterOptions {
  Index rank = 8;
  double alpha = 0;  // 0 means `rank`: the scale alpha / rank is then 1
  // Which maps of every block: query, key, value, output; gate, up and down of the feed-forward.
  std::vector<std::string> maps = {"query", "value"};
};

// Gives each of these maps of each block an adapter, which at first changes nothing: the logits
// stay equal, number for number, but where an activation stood in the map's own kernel, and with a
// cache, for which a model with adapters is computed layer by layer; these are equal to rounding.
// Random numbers are drawn in the order of parameters(). Embeddings and the map to logits get none.
// Throws Error, and changes nothing, for a model that has adapters, for no map, a map that is named
// twice or that the model lacks (it lists those that it has), and as Lora does.
void add_adapters(Transformer& model, const AdapterOptions& options, Random& random);

[[nodiscard]] bool has_adapters(const Transformer& model);

// What add_adapters was given; alpha is never 0, and maps are in the order of parameters(). Throws
// Error for a model without adapters, and for adapters that it cannot have made: of several ranks
// or alphas, or not at the same maps of all blocks.
[[nodiscard]] AdapterOptions adapter_options(const Transformer& model);

// What the optimizer gets: "blocks.0.attention.query.adapter.down" and so on. Empty without
// adapters.
[[nodiscard]] Parameters adapter_parameters(const Transformer& model);

// Replaces each map with an adapter by one with the weight W + scale A B, so that logits stay equal
// to rounding and the model is as fast and as large as before it had adapters. The weights are new
// tensors: copies of the model keep theirs. Without adapters it does nothing.
void merge_adapters(Transformer& model);

}  // namespace tapestry
