// BERT (Devlin et al. 2019): an encoder that normalises after adding, with token types. Its logits
// come through one more map with a norm, and are tied to the words.
#include "models/table.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

TransformerOptions options(Config& c) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, 30522);
  o.max_length = c.size({"max_position_embeddings"}, 512);
  o.d_model = c.size({"hidden_size"}, 768);
  o.num_layers = c.layers({"num_hidden_layers"}, 12);
  o.num_heads = c.size({"num_attention_heads"}, 12);
  o.d_ff = c.size({"intermediate_size"}, 3072);
  o.num_token_types = c.size({"type_vocab_size"}, 2);
  o.activation = c.activation({"hidden_act"}, "gelu");
  o.norm_eps = c.number({"layer_norm_eps"}, 1e-12);
  o.is_causal = false;
  o.attention_bias = true;
  o.norm_place = NormPlace::post;
  o.embedding_norm = true;
  o.logits_transform = true;
  o.logits_bias = true;
  o.tied_logits = c.flag({"tie_word_embeddings"}, true);
  c.only("position_embedding_type", "absolute");
  c.harmless({"directionality", "pooler_fc_size", "pooler_num_attention_heads",
              "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  return o;
}

void write_config(const TransformerOptions& o, OrderedJson& json) {
  json["vocab_size"] = o.vocab_size;
  json["max_position_embeddings"] = o.max_length;
  json["hidden_size"] = o.d_model;
  json["num_hidden_layers"] = o.num_layers;
  json["num_attention_heads"] = o.num_heads;
  json["intermediate_size"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["type_vocab_size"] = o.num_token_types;
  json["hidden_act"] = activation_name(o.activation);
  json["layer_norm_eps"] = o.norm_eps;
  json["tie_word_embeddings"] = o.tied_logits || !o.has_logits;  // BERT's default
}

void add_layer(std::vector<StoredName>& names) {
  const std::string layer = "encoder.layer.#.";
  add_maps(names, layer,
           {{"attention.query", "attention.self.query"},
            {"attention.key", "attention.self.key"},
            {"attention.value", "attention.self.value"},
            {"attention.output", "attention.output.dense"},
            {"feed_forward.up", "intermediate.dense"},
            {"feed_forward.down", "output.dense"}});
  add_norm(names, "blocks.#.attention_norm", layer + "attention.output.LayerNorm");
  add_norm(names, "blocks.#.feed_forward_norm", layer + "output.LayerNorm");
}

}  // namespace

Architecture bert() {
  Architecture a{
      .name = "bert",
      .model_class = "BertForMaskedLM",
      .bare_class = "BertModel",
      .prefix = "bert.",
      .names = {{"words.weight", "embeddings.word_embeddings.weight"},
                {"positions.weight", "embeddings.position_embeddings.weight"},
                {"token_types.weight", "embeddings.token_type_embeddings.weight"}},
      .head = {{"logits.weight", "cls.predictions.decoder.weight", Form::transposed},
               {"logits.bias", "cls.predictions.bias"}},
      .copies = {{"cls.predictions.decoder.weight", "words.weight"},
                 {"cls.predictions.decoder.bias", "logits.bias"}},
      .passed_over = {{"embeddings.position_ids", PassedOver::Kind::positions},
                      {"pooler.dense.weight", PassedOver::Kind::weights},
                      {"pooler.dense.bias", PassedOver::Kind::weights}},
      .passed_over_in_head = {{"cls.seq_relationship.weight", PassedOver::Kind::weights},
                              {"cls.seq_relationship.bias", PassedOver::Kind::weights}},
      .endings = {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}},
      .options = options,
      .write_config = write_config};
  add_norm(a.names, "embedding_norm", "embeddings.LayerNorm");
  add_layer(a.names);
  add_map(a.head, "logits_transform", "cls.predictions.transform.dense", Form::transposed);
  add_norm(a.head, "logits_norm", "cls.predictions.transform.LayerNorm");
  return a;
}

}  // namespace tapestry
