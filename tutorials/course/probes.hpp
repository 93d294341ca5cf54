// The logit lens and linear probes of step 50: what do a model's vectors say after each layer?
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/norm.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// A point of the model: its name, and the one under which it files what it has there.
struct ModelPoint {
  std::string name, filed;
};

// The embedding and each layer; with `within_layers` also each layer's attention.
std::vector<ModelPoint> model_points(const Transformer& model, bool within_layers);

// With the model's own norm and matrix it is the lens.
struct Probe {
  LayerNorm norm;
  Linear logits;
  Tensor operator()(const Tensor& x) const { return logits(norm(x)); }  // (..., vocabulary)
};
inline Probe lens(const Transformer& model) {
  return {std::get<LayerNorm>(model.norm->layer), model.lm_head};
}

// One probe for each point. It begins as a copy of the lens and learns the next words of the
// grammar's sentences, 64 in each step; the model stays as it is. Throws Error as Capture does, if
// another one is active.
std::vector<Probe> trained_probes(const Transformer& model, const std::vector<ModelPoint>& at,
                                  Index steps);

// Six layers of width 32 that have learned the grammar in so many steps.
Transformer deep_model(int seed, Index steps);

}  // namespace tapestry
