#include "course/head_distances.hpp"

#include <cmath>
#include <cstdio>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {
namespace {

Mask mask_of(const Transformer& model) { return model.options.is_causal ? Mask::causal() : Mask(); }

void print_rises(const char* how, const std::vector<double>& rises) {
  std::printf("   %s ", how);
  for (const double more : rises) std::printf(" %5.2f", std::abs(more) < 0.005 ? 0 : more);
}

plot::LineChart chart(const LooksPanel& panel) {
  plot::LineChart result;
  result.title = panel.title;
  result.x_axis = {.name = "normalised entropy (1: looks at all keys alike)", .low = 0, .high = 1};
  result.y_axis = {.name = "distance / that of uniform attention", .low = 0.4, .high = 1.4};
  for (const Looks& heads : panel.layers) {
    const std::string name = "layer " + std::to_string(result.series.size());
    result.series.push_back({name, doubles(heads.entropy), doubles(heads.share), false, true});
  }
  result.reference_lines = {{1, "uniform"}};
  return result;
}

}  // namespace

void Looks::add(const Looks& more) {
  distance = concat({distance, more.distance}, 0);  // (heads), as the other two
  share = concat({share, more.share}, 0);
  entropy = concat({entropy, more.entropy}, 0);
}

Looks look(const Tensor& weights, const Mask& mask) {  // (texts, heads, places, places)
  const auto of_heads = [&](const Tensor& by_query) {
    return mean(mean_of_rows(by_query, rows_that_count(weights.shape(), mask)), 0);  // (heads)
  };
  const Tensor distance = of_heads(attention_distance(weights));  // (heads), like uniform
  const Tensor uniform = of_heads(attention_distance(uniform_attention(weights.shape(), mask)));
  return {distance, distance / uniform, of_heads(normalized_entropy(weights, mask))};
}

std::vector<Looks> look(const Transformer& model, const Indices& texts) {
  const Capture seen;
  model(texts, {}, {.need_weights = true});
  std::vector<Looks> result;
  for (const Tensor& weights : captured_weights(seen)) {  // (texts, heads, places, places)
    result.push_back(look(weights, mask_of(model)));
  }
  return result;
}

double loss_on(const Transformer& model, const Batch& test) {
  return double{cross_entropy(model(test.inputs), test.targets).item()};
}

double loss_with_uniform(const Transformer& model, const Batch& test, Index layer) {
  const Mask mask = mask_of(model);
  Capture reach;
  reach.replace("blocks." + std::to_string(layer) + ".attention.weights",
                [&](const Tensor& weights) { return uniform_attention(weights.shape(), mask); });
  const Tensor logits = model(test.inputs, {}, {.need_weights = true});  // (texts, places, words)
  return double{cross_entropy(logits, test.targets).item()};
}

double loss_without(const Transformer& model, const Batch& test, Index layer) {
  Capture reach;
  reach.replace("blocks." + std::to_string(layer) + ".attention.heads",
                [](const Tensor& said) { return said * 0; });  // (texts, heads, places, d_k)
  return loss_on(model, test);
}

void print_looks(const std::string& name, std::size_t layer, const Looks& trained,
                 const Looks& untrained) {
  const Spread distance = spread(trained.distance);
  const double share = spread(trained.share).mean;
  std::printf("%-10s %zu  %5.2f +- %.2f %10.2f %9.2f %13.2f %10.2f\n", name.c_str(), layer,
              distance.mean, distance.deviation, distance.mean / share,
              spread(untrained.distance).mean, share, spread(trained.entropy).mean);
}

void print_controls(const std::string& name, const std::vector<LayerControl>& layers) {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::printf("%-8s layer %zu", name.c_str(), layer);
    print_rises("uniform", layers[layer].uniform);
    print_rises("cut", layers[layer].cut);
    std::printf("\n");
  }
}

plot::Canvas dots_of_heads(const std::vector<LooksPanel>& panels) {
  plot::Canvas canvas(1240, 440);
  const std::vector<plot::Rect> areas =
      plot::panels(canvas.area().inset(16), 1, static_cast<int>(panels.size()));
  for (std::size_t i = 0; i < panels.size(); ++i) plot::draw(canvas, areas[i], chart(panels[i]));
  return canvas;
}

}  // namespace tapestry
