// How far the heads of a layer look, and whether it matters where; in rows of a table and as a
// picture: for step 52 and its experiment.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tapestry/mask.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry {

// Of each head of a layer, means over texts and queries: (heads).
struct Looks {
  Tensor distance = Tensor::zeros({0});  // words from query to key
  Tensor share = Tensor::zeros({0});     // this, as a share of what uniform attention has
  Tensor entropy = Tensor::zeros({0});   // normalised; 1: looks at all keys alike

  void add(const Looks& more);  // those of another model, behind these
};

// What heads with these weights do, (texts, heads, places, places), where the mask lets them.
Looks look(const Tensor& weights, const Mask& mask);
// What the heads of each layer of a model do with these texts, (texts, places).
std::vector<Looks> look(const Transformer& model, const Indices& texts);

// The loss of a model, also when the weights of a layer are made uniform, or all its heads are cut.
double loss_on(const Transformer& model, const Batch& test);
double loss_with_uniform(const Transformer& model, const Batch& test, Index layer);
double loss_without(const Transformer& model, const Batch& test, Index layer);

// One line: mean distance and its deviation, the distance of uniform attention, that of an
// untrained model; share and entropy.
void print_looks(const std::string& name, std::size_t layer, const Looks& trained,
                 const Looks& untrained);

// By how much the loss rises, with each seed, when a layer is made uniform, and when it is cut.
struct LayerControl {
  std::vector<double> uniform, cut;
};
// A line for each layer.
void print_controls(const std::string& name, const std::vector<LayerControl>& layers);

struct LooksPanel {
  std::string title;
  std::vector<Looks> layers;
};

// The panels side by side. In each a dot for each head, at the right if it looks at all keys alike,
// high up if it looks far, and a colour for each layer. Throws Error if there is no panel, or one
// without heads.
plot::Canvas dots_of_heads(const std::vector<LooksPanel>& panels);

}  // namespace tapestry
