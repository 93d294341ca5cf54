// Llama (Touvron et al. 2023), Mistral (Jiang et al. 2023) and Qwen2 (Yang et al. 2024): RMS norms,
// rotary positions, grouped queries, gated feed-forwards. Mistral has a window, Qwen2 biases of
// query, key and value and, if so told, a window in its upper layers.
#include <algorithm>

#include "models/table.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

// What differs when config.json leaves it out.
struct Defaults {
  Index vocab_size, d_ff, num_key_value_heads, max_length;
};

TransformerOptions shared_options(Config& c, const Defaults& defaults) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, defaults.vocab_size);
  o.max_length = c.size({"max_position_embeddings"}, defaults.max_length);
  o.d_model = c.size({"hidden_size"}, 4096);
  o.num_layers = c.layers({"num_hidden_layers"}, 32);
  o.num_heads = c.size({"num_attention_heads"}, 32);
  const bool all = defaults.num_key_value_heads == 0 || c.is_null("num_key_value_heads");
  o.num_key_value_heads =
      c.size({"num_key_value_heads"}, all ? o.num_heads : defaults.num_key_value_heads);
  o.d_k = c.size({"head_dim"}, o.d_model / o.num_heads);
  o.d_ff = c.size({"intermediate_size"}, defaults.d_ff);
  o.activation = c.activation({"hidden_act"}, "silu");
  o.gated = true;
  o.feed_forward_bias = false;
  o.norm_kind = NormKind::rms;
  o.norm_eps = c.number({"rms_norm_eps"}, 1e-6);
  o.positions = Positions::rotary;
  o.rotary = rotary_options(c, {"rope_theta"});
  o.tied_logits = c.flag({"tie_word_embeddings"}, false);
  c.harmless({"attention_dropout", "pretraining_tp"});
  return o;
}

void write_shared(const TransformerOptions& o, OrderedJson& json) {
  json["vocab_size"] = o.vocab_size;
  json["max_position_embeddings"] = o.max_length;
  json["hidden_size"] = o.d_model;
  json["num_hidden_layers"] = o.num_layers;
  json["num_attention_heads"] = o.num_heads;
  json["num_key_value_heads"] = o.num_key_value_heads == 0 ? o.num_heads : o.num_key_value_heads;
  json["head_dim"] = o.d_k == 0 ? o.d_model / o.num_heads : o.d_k;
  json["intermediate_size"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["hidden_act"] = activation_name(o.activation);
  json["rms_norm_eps"] = o.norm_eps;
  json["rope_theta"] = o.rotary.base;
  json["tie_word_embeddings"] = o.tied_logits;
}

Architecture table(const char* name, const std::string& class_begin) {
  const std::string layer = "layers.#.";
  Architecture a{
      .name = name,
      .model_class = class_begin + "ForCausalLM",
      .bare_class = class_begin + "Model",
      .prefix = "model.",
      .names = {{"words.weight", "embed_tokens.weight"},
                {"norm.gain", "norm.weight"},
                {"blocks.#.attention_norm.gain", layer + "input_layernorm.weight"},
                {"blocks.#.feed_forward_norm.gain", layer + "post_attention_layernorm.weight"}},
      .head = {{"logits.weight", "lm_head.weight", Form::transposed}},
      .copies = {{"lm_head.weight", "words.weight"}},
      .passed_over = {{layer + "self_attn.rotary_emb.inv_freq", PassedOver::Kind::frequencies},
                      {"rotary_emb.inv_freq", PassedOver::Kind::frequencies}},
      .options = nullptr,
      .write_config = nullptr};
  add_llama_maps(a.names);
  return a;
}

// The layers that "layer_types" names see a window, or without it those from `first` on.
void set_windows(Config& c, TransformerOptions& o, Index window, Index first) {
  const auto layers = static_cast<std::size_t>(o.num_layers);
  std::vector<Index> windows(layers, 0);
  for (std::size_t i = 0; i < layers; ++i) {
    if (static_cast<Index>(i) >= first) windows[i] = window;
  }
  if (const Json* const types = c.find({"layer_types"})) {
    if (!types->is_array() || types->size() != layers) {
      c.refuse("layer_types", "it must have a word for each layer.");
    }
    for (std::size_t i = 0; i < layers; ++i) {
      const bool sliding = types->at(i) == "sliding_attention";
      if (!(sliding && window > 0) && types->at(i) != "full_attention") {
        c.refuse("layer_types", sliding ? "the other options give no window."
                                        : "layers are only full_attention or sliding_attention.");
      }
      windows[i] = sliding ? window : 0;
    }
  }
  const bool any = std::any_of(windows.begin(), windows.end(), [](Index one) { return one > 0; });
  if (any) o.windows = windows;
}

}  // namespace

void add_llama_maps(std::vector<StoredName>& names) {
  add_maps(names, "layers.#.",
           {{"attention.query", "self_attn.q_proj"},
            {"attention.key", "self_attn.k_proj"},
            {"attention.value", "self_attn.v_proj"},
            {"attention.output", "self_attn.o_proj"},
            {"feed_forward.gate", "mlp.gate_proj"},
            {"feed_forward.up", "mlp.up_proj"},
            {"feed_forward.down", "mlp.down_proj"}});
}

Architecture llama() {
  Architecture a = table("llama", "Llama");
  a.options = [](Config& c) {
    TransformerOptions o = shared_options(c, {32000, 11008, 0, 2048});
    o.attention_bias = c.flag({"attention_bias"}, false);
    o.feed_forward_bias = c.flag({"mlp_bias"}, false);
    return o;
  };
  a.write_config = [](const TransformerOptions& o, OrderedJson& json) {
    write_shared(o, json);
    json["attention_bias"] = o.attention_bias;
    json["mlp_bias"] = o.feed_forward_bias;
  };
  return a;
}

Architecture mistral() {
  Architecture a = table("mistral", "Mistral");
  a.options = [](Config& c) {
    TransformerOptions o = shared_options(c, {32000, 14336, 8, 131072});
    c.only("attention_bias", false);
    c.only("mlp_bias", false);
    const bool none = c.is_null("sliding_window");
    set_windows(c, o, none ? 0 : c.size({"sliding_window"}, 4096), 0);
    return o;
  };
  a.write_config = [](const TransformerOptions& o, OrderedJson& json) {
    write_shared(o, json);
    json["sliding_window"] = nullptr;
    const bool windows = !o.windows.empty() && o.windows.front() > 0;
    if (windows) json["sliding_window"] = o.windows.front();
  };
  return a;
}

Architecture qwen2() {
  Architecture a = table("qwen2", "Qwen2");
  a.options = [](Config& c) {
    TransformerOptions o = shared_options(c, {151936, 22016, 32, 32768});
    o.attention_bias = true;
    o.attention_output_bias = false;
    const bool wanted = c.flag({"use_sliding_window"}, false) && !c.is_null("sliding_window");
    const Index window = c.size({"sliding_window"}, 4096);
    const Json* const first = c.find({"max_window_layers"});
    const bool zero = first != nullptr && *first == 0;
    set_windows(c, o, wanted ? window : 0, zero ? 0 : c.size({"max_window_layers"}, 28));
    return o;
  };
  a.write_config = [](const TransformerOptions& o, OrderedJson& json) {
    write_shared(o, json);
    std::size_t first = 0;  // of those with a window
    while (first < o.windows.size() && o.windows[first] == 0) ++first;
    const bool windows = first < o.windows.size();
    json["use_sliding_window"] = windows;
    json["max_window_layers"] = windows ? first : static_cast<std::size_t>(o.num_layers);
    json["sliding_window"] = nullptr;
    if (!windows) return;
    json["sliding_window"] = o.windows[first];
    for (const Index one : o.windows) {
      json["layer_types"].push_back(one > 0 ? "sliding_attention" : "full_attention");
    }
  };
  return a;
}

}  // namespace tapestry
