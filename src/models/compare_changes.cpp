// Known mistakes, one by one.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tapestry/format.hpp"
#include "tapestry/models/compare.hpp"

namespace tapestry {
namespace {

struct Change {
  std::string what;
  std::function<void(Transformer&)> apply;  // to a copy, which shares the weights
};
using Changes = std::vector<Change>;

// Does the same to each block.
std::function<void(Transformer&)> each_block(std::function<void(TransformerBlock&)> change) {
  return [change](Transformer& model) {
    for (TransformerBlock& block : model.blocks) change(block);
  };
}

void add_rotary(Changes& list, const Transformer& model) {
  if (model.options.positions != Positions::rotary || model.blocks.empty()) return;
  const MultiHeadAttention& now = model.blocks.front().attention;
  const Index d_k = now.query.weight.size(1) / now.num_heads;
  const bool half = now.rotary.layout == RotaryLayout::half_split;
  list.push_back({half ? "rotary layout interleaved instead of half-split"
                       : "rotary layout half-split instead of interleaved",
                  each_block([half](TransformerBlock& b) {
                    b.attention.rotary.layout =
                        half ? RotaryLayout::interleaved : RotaryLayout::half_split;
                  })});
  const Index width = now.rotary.width == 0 ? d_k : now.rotary.width;
  for (const Index other : {d_k, d_k / 2 / 2 * 2, d_k / 4 / 2 * 2}) {
    if (other == width || other == 0) continue;
    list.push_back(
        {"rotary width " + std::to_string(other) + " instead of " + std::to_string(width) +
             " of each head's " + std::to_string(d_k),
         each_block([other](TransformerBlock& b) { b.attention.rotary.width = other; })});
  }
  for (const double other : {1e4, 1e5, 5e5, 1e6}) {
    if (other == now.rotary.base) continue;
    list.push_back({"rotary base " + formatted("%.10g", other) + " instead of " +
                        formatted("%.10g", now.rotary.base),
                    each_block([other](TransformerBlock& b) { b.attention.rotary.base = other; })});
  }
  list.push_back({"no rotary positions", each_block([](TransformerBlock& b) {
                    b.attention.positions = Positions::none;
                  })});
}

void add_activation(Changes& list, const Transformer& model) {
  constexpr std::pair<Activation, const char*> all[] = {{Activation::gelu, "gelu"},
                                                        {Activation::gelu_tanh, "gelu_tanh"},
                                                        {Activation::silu, "silu"},
                                                        {Activation::relu, "relu"}};
  std::string now = "none";
  for (const auto& [one, name] : all) {
    if (one == model.options.activation) now = name;
  }
  for (const auto& [one, name] : all) {
    if (name == now) continue;
    list.push_back(
        {"activation " + std::string(name) + " instead of " + now, [other = one](Transformer& m) {
           m.options.activation = other;
           for (TransformerBlock& b : m.blocks) {
             if (b.feed_forward) b.feed_forward->activation = other;
           }
         }});
  }
}

void add_scale(Changes& list, const Transformer& model) {
  if (model.blocks.empty()) return;
  const MultiHeadAttention& now = model.blocks.front().attention;
  const double d_k = static_cast<double>(now.query.weight.size(1) / now.num_heads);
  const double usual = 1 / std::sqrt(d_k);
  const auto has = [&](double scale) {
    return std::all_of(model.blocks.begin(), model.blocks.end(), [&](const TransformerBlock& b) {
      return b.attention.scores.scale.value_or(usual) == scale;
    });
  };
  const auto add = [&](const std::string& what, double other) {
    if (has(other)) return;
    list.push_back(
        {what, each_block([other](TransformerBlock& b) { b.attention.scores.scale = other; })});
  };
  add("scores scaled by 1 / sqrt(d_k)", usual);
  add("scores not scaled", 1);
  add("scores scaled by 1 / d_k", 1 / d_k);
  if (!has(now.scores.scale.value_or(usual))) return;  // they differ already
  list.push_back({"scores of layer i, counted from 1, divided by i", [usual](Transformer& m) {
                    for (std::size_t i = 0; i < m.blocks.size(); ++i) {
                      ScoreOptions& scores = m.blocks[i].attention.scores;
                      scores.scale = scores.scale.value_or(usual) / static_cast<double>(i + 1);
                    }
                  }});
}

// Changes every norm of the model.
void each_norm(Transformer& model, const std::function<void(NormLayer&)>& change) {
  for (TransformerBlock& b : model.blocks) {
    change(b.attention_norm);
    if (b.feed_forward_norm) change(*b.feed_forward_norm);
  }
  for (auto* one : {&model.embedding_norm, &model.norm, &model.logits_norm}) {
    if (*one) change(**one);
  }
}

void add_norms(Changes& list, const Transformer& model) {
  for (const double eps : {1e-5, 1e-6, 1e-12}) {
    if (eps == model.options.norm_eps) continue;
    const auto change = [eps](NormLayer& norm) {
      std::visit([eps](auto& layer) { layer.eps = eps; }, norm.layer);
    };
    list.push_back(
        {"norm epsilon " + exact_text(eps) + " instead of " + exact_text(model.options.norm_eps),
         [change](Transformer& m) { each_norm(m, change); }});
  }
  const bool rms = model.options.norm_kind == NormKind::rms;
  const auto other_kind = [rms](NormLayer& norm) {
    // (d_model)
    const Tensor gain = std::visit([](const auto& layer) { return layer.weight; }, norm.layer);
    const double eps = std::visit([](const auto& layer) { return layer.eps; }, norm.layer);
    norm = NormLayer(rms ? NormKind::layer : NormKind::rms, gain.size(0), eps);
    std::visit([&](auto& layer) { layer.weight = gain; }, norm.layer);
  };
  list.push_back({rms ? "layer norm instead of RMS norm" : "RMS norm instead of layer norm",
                  [other_kind](Transformer& m) { each_norm(m, other_kind); }});
}

void add_residuals(Changes& list, const Transformer& model) {
  const bool pre = model.options.norm_place == NormPlace::pre;
  list.push_back({pre ? "norms after adding instead of before" : "norms before adding, not after",
                  each_block([pre](TransformerBlock& b) {
                    b.norm_place = pre ? NormPlace::post : NormPlace::pre;
                  })});
  if (!pre || model.blocks.empty()) return;
  const bool parallel = model.blocks.front().parallel_residual;
  list.push_back(
      {parallel ? "feed-forward after attention instead of in parallel"
                : "feed-forward in parallel with attention instead of after it",
       each_block([parallel](TransformerBlock& b) { b.parallel_residual = !parallel; })});
}

// If some layers have a window, and others have none.
void add_other_windows(Changes& list, Index window) {
  list.push_back({"a window in all layers",
                  each_block([window](TransformerBlock& b) { b.attention.window = window; })});
  list.push_back({"windows in the other layers", each_block([window](TransformerBlock& b) {
                    b.attention.window = b.attention.window == 0 ? window : 0;
                  })});
}

void add_masks(Changes& list, const Transformer& model) {
  const bool causal = model.options.is_causal;
  list.push_back({causal ? "no causal mask: positions see later ones, too" : "a causal mask",
                  each_block([causal](TransformerBlock& b) { b.attention.is_causal = !causal; })});
  Index window = 0;
  for (const TransformerBlock& b : model.blocks) window = std::max(window, b.attention.window);
  if (window == 0) return;
  list.push_back({"no window", each_block([](TransformerBlock& b) { b.attention.window = 0; })});
  const bool everywhere =
      std::all_of(model.blocks.begin(), model.blocks.end(),
                  [](const TransformerBlock& b) { return b.attention.window > 0; });
  if (!everywhere) add_other_windows(list, window);
  for (const Index other : {window + 1, window - 1}) {
    if (other == 0) continue;
    list.push_back({"a window of " + std::to_string(other) + " positions instead of " +
                        std::to_string(window) + " (does it count the position itself?)",
                    each_block([other](TransformerBlock& b) {
                      if (b.attention.window > 0) b.attention.window = other;
                    })});
  }
}

Changes known_changes(const Transformer& model) {
  Changes list;
  add_rotary(list, model);
  add_activation(list, model);
  add_scale(list, model);
  add_norms(list, model);
  add_residuals(list, model);
  add_masks(list, model);
  return list;
}

}  // namespace

std::vector<Trial> try_changes(const Transformer& model, const Safetensors& expected,
                               const CompareOptions& options) {
  std::vector<Trial> trials;
  for (const Change& change : known_changes(model)) {
    Transformer changed = model;
    change.apply(changed);
    trials.push_back({change.what, compare(changed, expected, options)});
  }
  return trials;
}

std::vector<Trial> try_pairs_of_changes(const Transformer& model, const Safetensors& expected,
                                        const CompareOptions& options) {
  const Changes list = known_changes(model);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) {
      Transformer changed = model;
      list[i].apply(changed);
      list[j].apply(changed);
      trials.push_back(
          {list[i].what + "; and " + list[j].what, compare(changed, expected, options)});
    }
  }
  return trials;
}

}  // namespace tapestry
