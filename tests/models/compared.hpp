// Models and their activations, to compare.
#pragma once

#include "models/plain.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/compare.hpp"

namespace plain {

using Words = std::vector<std::string>;

inline Transformer made(const TransformerOptions& options) {
  Random random(5);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.6);
  return model;
}

// The activations of these names, in an order that is not that of computing.
inline Safetensors activations_of(const Transformer& model,
                                  const std::vector<std::string>& more = {}) {
  const Capture seen;
  Safetensors file;
  file.tensors.push_back({"logits", model(ids, {}, {.need_weights = true})});
  for (Index i = 0; i < model.options.num_layers; ++i) {
    const std::string layer = std::to_string(i);
    const Tensor weights = seen["blocks." + layer + ".attention.weights"];
    file.tensors.push_back({"weights." + layer, squeeze(weights, 0)});
  }
  for (const std::string& name : more) file.tensors.push_back({name, seen[name]});
  std::vector<real> numbers(ids.values.begin(), ids.values.end());
  file.tensors.push_back({"ids", Tensor({9}, numbers)});
  return file;
}

inline TransformerOptions options_of(const std::string& type, const std::string& more) {
  return model_config(R"({"model_type":")" + type +
                      R"(","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
                          "num_attention_heads":3,"intermediate_size":10)" +
                      more + "}")
      .options;
}

}  // namespace plain
