// Step 47. What does causal attention look like?
//
// New here: nothing is computed that was not computed before. The mask is drawn, and the same
// sentence goes through the same model twice: as it was trained, and with the mask taken off.
// Reads the model of step 43; writes out/plots/phase4_causal_mask.png and
// out/plots/phase4_bidirectional_vs_causal.png; takes about a second.
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

const std::string model_file = "out/checkpoints/causal_model.safetensors";
const Words words = {"<bos>", "the", "cat", "sat", "on", "the", "mat"};
constexpr Index length = 7;

void draw_masks() {
  const Words padded = {"<bos>", "the", "cat", "sat", "<eos>", "<pad>", "<pad>"};
  const struct {
    const char* name;
    Mask mask;
    Words words;
  } list[] = {{"causal", Mask::causal(), words},
              {"causal & padding({5})", Mask::causal() & Mask::padding({5}), padded},
              {"causal & local(2)", Mask::causal() & Mask::local(2), words}};
  plot::Canvas canvas(1560, 540);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 3);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    plot::draw(canvas, panels[i],
               mask_heatmap(list[i].mask, list[i].words, list[i].words, list[i].name));
  }
  plot::write_png(canvas, "out/plots/phase4_causal_mask.png");
  std::printf("wrote out/plots/phase4_causal_mask.png\n");
}

// What the heads really used: (layers * heads, length, length).
Tensor all_weights(const Transformer& model, const Indices& ids) {
  const Capture seen;
  model(ids, {}, {.need_weights = true});
  std::vector<Tensor> layers;
  for (Index layer = 0; layer < model.options.num_layers; ++layer) {
    const std::string name = "blocks." + std::to_string(layer) + ".attention.weights";
    layers.push_back(squeeze(seen[name], 0));  // (heads, length, length)
  }
  return concat(layers, 0);  // (layers * heads, length, length)
}

// The head with most weight on later words when the mask is off.
Index most_ahead(const Tensor& weights) {
  const Tensor later = Mask::causal().to(MaskEncoding::drop, {length, length});  // (length, length)
  const Tensor ahead = sum(weights * later, {1, 2});                             // (layers * heads)
  Index best = 0;
  for (Index i = 1; i < ahead.numel(); ++i) {
    if (ahead.at({i}) > ahead.at({best})) best = i;
  }
  return best;
}

plot::Heatmap map_of(const Tensor& weights, Index head, bool causal) {
  const Tensor one = squeeze(slice(weights, 0, head, head + 1), 0);  // (length, length)
  plot::Heatmap map = attention_heatmap(one, words, words,
                                        causal ? "With the mask, as trained" : "Without the mask");
  map.subtitle = causal ? "crossed: the mask forbids it" : "the same model, the same sentence";
  map.colour_bar = false;
  for (Index i = 0; causal && i < length; ++i) {
    for (Index j = 0; j < length; ++j) map.masked.push_back(!Mask::causal().allows(0, i, j));
  }
  return map;
}

}  // namespace

int main() try {
  std::printf("Step 47: pictures (takes about a second)\n\n");
  const Transformer causal =
      read_transformer(model_file, "step 43 trains and saves it. Type: make run-43");
  draw_masks();

  Transformer open = causal;
  for (TransformerBlock& block : open.blocks) block.attention.is_causal = false;
  const Vocabulary vocabulary(Grammar().words());
  const Indices ids = vocabulary.batch({words});  // (1, length)
  // (layers * heads, length, length) each
  const Tensor with = all_weights(causal, ids), without = all_weights(open, ids);
  const Index head = most_ahead(without);
  std::printf("drawn: the head that looks ahead most when it may, layer %lld, head %lld\n",
              static_cast<long long>(head / causal.options.num_heads),
              static_cast<long long>(head % causal.options.num_heads));

  plot::Canvas canvas(1240, 580);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], map_of(without, head, false));
  plot::draw(canvas, panels[1], map_of(with, head, true));
  plot::write_png(canvas, "out/plots/phase4_bidirectional_vs_causal.png");
  std::printf("wrote out/plots/phase4_bidirectional_vs_causal.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
