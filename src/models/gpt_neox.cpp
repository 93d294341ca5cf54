// GPT-NeoX (Black et al. 2022; Pythia). Rotary positions turn a part of each head, attention and
// feed-forward stand in parallel or not, and one matrix has the query, key and value of each head.
#include "models/table.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

TransformerOptions options(Config& c) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, 50432);
  o.max_length = c.size({"max_position_embeddings"}, 2048);
  o.d_model = c.size({"hidden_size"}, 6144);
  o.num_layers = c.layers({"num_hidden_layers"}, 44);
  o.num_heads = c.size({"num_attention_heads"}, 64);
  o.d_ff = c.size({"intermediate_size"}, 24576);
  o.activation = c.activation({"hidden_act"}, "gelu");
  o.norm_eps = c.number({"layer_norm_eps"}, 1e-5);
  o.attention_bias = c.flag({"attention_bias"}, true);
  o.parallel_residual = c.flag({"use_parallel_residual"}, true);
  o.positions = Positions::rotary;
  o.rotary =
      rotary_options(c, {"rotary_emb_base", "rope_theta"},
                     {{"rotary_pct", "partial_rotary_factor"}, 0.25, o.d_model / o.num_heads});
  o.tied_logits = c.flag({"tie_word_embeddings"}, false);
  c.harmless({"attention_dropout", "hidden_dropout", "is_decoder"});
  return o;
}

void write_config(const TransformerOptions& o, OrderedJson& json) {
  json["vocab_size"] = o.vocab_size;
  json["max_position_embeddings"] = o.max_length;
  json["hidden_size"] = o.d_model;
  json["num_hidden_layers"] = o.num_layers;
  json["num_attention_heads"] = o.num_heads;
  json["intermediate_size"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["hidden_act"] = activation_name(o.activation);
  json["layer_norm_eps"] = o.norm_eps;
  json["attention_bias"] = o.attention_bias;
  json["use_parallel_residual"] = o.parallel_residual;
  json["rotary_emb_base"] = o.rotary.base;
  json["rotary_pct"] = rotary_share(o.rotary, o.d_model / o.num_heads);
  json["tie_word_embeddings"] = o.tied_logits;
}

}  // namespace

Architecture gpt_neox() {
  const std::string layer = "layers.#.", attention = layer + "attention.";
  Architecture a{.name = "gpt_neox",
                 .model_class = "GPTNeoXForCausalLM",
                 .bare_class = "GPTNeoXModel",
                 .prefix = "gpt_neox.",
                 .names = {{"words.weight", "embed_in.weight"}},
                 .head = {{"logits.weight", "embed_out.weight", Form::transposed}},
                 .copies = {{"embed_out.weight", "words.weight"}},
                 .passed_over = {{attention + "bias", PassedOver::Kind::mask},
                                 {attention + "masked_bias", PassedOver::Kind::number},
                                 {attention + "rotary_emb.inv_freq", PassedOver::Kind::frequencies},
                                 {"rotary_emb.inv_freq", PassedOver::Kind::frequencies}},
                 .options = options,
                 .write_config = write_config};
  add_norm(a.names, "norm", "final_layer_norm");
  add_norm(a.names, "blocks.#.attention_norm", layer + "input_layernorm");
  add_norm(a.names, "blocks.#.feed_forward_norm", layer + "post_attention_layernorm");
  add_fused_maps(a.names, attention + "query_key_value", Form::by_head);
  add_maps(a.names, layer,
           {{"attention.output", "attention.dense"},
            {"feed_forward.up", "mlp.dense_h_to_4h"},
            {"feed_forward.down", "mlp.dense_4h_to_h"}});
  return a;
}

}  // namespace tapestry
