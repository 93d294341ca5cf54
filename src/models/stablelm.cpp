// StableLM (Bellagente et al. 2024): like Llama, but with layer norms, rotary positions on a part
// of each head, and on request biases of query, key and value. The form with a parallel residual
// has one norm for attention and feed-forward together, which no Transformer here has.
#include "models/table.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

TransformerOptions options(Config& c) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, 50304);
  o.max_length = c.size({"max_position_embeddings"}, 4096);
  o.d_model = c.size({"hidden_size"}, 2560);
  o.num_layers = c.layers({"num_hidden_layers"}, 32);
  o.num_heads = c.size({"num_attention_heads"}, 32);
  o.num_key_value_heads = c.size({"num_key_value_heads"}, 32);
  o.d_ff = c.size({"intermediate_size"}, 6912);
  o.activation = c.activation({"hidden_act"}, "silu");
  o.gated = true;
  o.feed_forward_bias = false;
  o.norm_eps = c.number({"layer_norm_eps"}, 1e-5);
  o.positions = Positions::rotary;
  o.rotary =
      rotary_options(c, {"rope_theta"}, {{"partial_rotary_factor"}, 0.25, o.d_model / o.num_heads});
  o.attention_bias = c.flag({"use_qkv_bias"}, false);
  o.attention_output_bias = false;
  o.tied_logits = c.flag({"tie_word_embeddings"}, false);
  c.only("use_parallel_residual", false);
  c.only("qk_layernorm", false);
  c.harmless({"attention_dropout", "hidden_dropout"});
  return o;
}

void write_config(const TransformerOptions& o, OrderedJson& json) {
  json["vocab_size"] = o.vocab_size;
  json["max_position_embeddings"] = o.max_length;
  json["hidden_size"] = o.d_model;
  json["num_hidden_layers"] = o.num_layers;
  json["num_attention_heads"] = o.num_heads;
  json["num_key_value_heads"] = o.num_key_value_heads == 0 ? o.num_heads : o.num_key_value_heads;
  json["intermediate_size"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["hidden_act"] = activation_name(o.activation);
  json["layer_norm_eps"] = o.norm_eps;
  json["rope_theta"] = o.rotary.base;
  json["partial_rotary_factor"] = rotary_share(o.rotary, o.d_model / o.num_heads);
  json["use_qkv_bias"] = o.attention_bias;
  json["tie_word_embeddings"] = o.tied_logits;
}

}  // namespace

Architecture stablelm() {
  const std::string layer = "layers.#.", block = "blocks.#.";
  Architecture a{
      .name = "stablelm",
      .model_class = "StableLmForCausalLM",
      .bare_class = "StableLmModel",
      .prefix = "model.",
      .names = {{"words.weight", "embed_tokens.weight"}},
      .head = {{"logits.weight", "lm_head.weight", Form::transposed}},
      .copies = {{"lm_head.weight", "words.weight"}},
      .passed_over = {{layer + "self_attn.rotary_emb.inv_freq", PassedOver::Kind::frequencies}},
      .options = options,
      .write_config = write_config};
  add_norm(a.names, "norm", "norm");
  add_norm(a.names, block + "attention_norm", layer + "input_layernorm");
  add_norm(a.names, block + "feed_forward_norm", layer + "post_attention_layernorm");
  add_llama_maps(a.names);
  return a;
}

}  // namespace tapestry
