// GPT-2 (Radford et al. 2019). Linear weights are stored (in, out); query, key and value side by
// side in one matrix.
#include "models/table.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

TransformerOptions options(Config& c) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, 50257);
  o.max_length = c.size({"n_positions", "max_position_embeddings"}, 1024);
  o.d_model = c.size({"n_embd", "hidden_size"}, 768);
  o.num_layers = c.layers({"n_layer", "num_hidden_layers"}, 12);
  o.num_heads = c.size({"n_head", "num_attention_heads"}, 12);
  o.d_ff = c.size({"n_inner"}, 0);  // without one 4 d_model
  o.activation = c.activation({"activation_function"}, "gelu_new");
  o.norm_eps = c.number({"layer_norm_epsilon"}, 1e-5);
  if (!c.flag({"scale_attn_weights"}, true)) o.scores.scale = 1;
  o.scale_by_layer = c.flag({"scale_attn_by_inverse_layer_idx"}, false);
  o.attention_bias = true;
  o.tied_logits = c.flag({"tie_word_embeddings"}, true);
  c.harmless({"n_ctx", "attn_pdrop", "embd_pdrop", "resid_pdrop", "reorder_and_upcast_attn",
              "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
              "summary_type", "summary_use_proj"});
  return o;
}

void write_config(const TransformerOptions& o, OrderedJson& json) {
  json["vocab_size"] = o.vocab_size;
  json["n_positions"] = o.max_length;
  json["n_embd"] = o.d_model;
  json["n_layer"] = o.num_layers;
  json["n_head"] = o.num_heads;
  json["n_inner"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["activation_function"] = activation_name(o.activation);
  json["layer_norm_epsilon"] = o.norm_eps;
  json["scale_attn_weights"] = !o.scores.scale.has_value();
  json["scale_attn_by_inverse_layer_idx"] = o.scale_by_layer;
  json["tie_word_embeddings"] = o.tied_logits;
}

}  // namespace

Architecture gpt(const std::string& name, const std::string& class_begin) {
  Architecture a{.name = name,
                 .model_class = class_begin + "LMHeadModel",
                 .bare_class = class_begin + "Model",
                 .prefix = "transformer.",
                 .names = {{"words.weight", "wte.weight"}, {"positions.weight", "wpe.weight"}},
                 .head = {{"logits.weight", "lm_head.weight", Form::transposed}},
                 .copies = {{"lm_head.weight", "words.weight"}},
                 .options = nullptr,
                 .write_config = nullptr};
  add_norm(a.names, "norm", "ln_f");
  add_norm(a.names, "blocks.#.attention_norm", "h.#.ln_1");
  add_norm(a.names, "blocks.#.feed_forward_norm", "h.#.ln_2");
  return a;
}

Architecture gpt2() {
  Architecture a = gpt("gpt2", "GPT2");
  a.passed_over = {{"h.#.attn.bias", PassedOver::Kind::mask},
                   {"h.#.attn.masked_bias", PassedOver::Kind::number}};
  a.options = options;
  a.write_config = write_config;
  add_fused_maps(a.names, "h.#.attn.c_attn", Form::side);
  add_maps(a.names, "h.#.",
           {{"attention.output", "attn.c_proj"},
            {"feed_forward.up", "mlp.c_fc"},
            {"feed_forward.down", "mlp.c_proj"}},
           Form::same);
  return a;
}

}  // namespace tapestry
