// GPT-Neo (Black et al. 2021; the TinyStories models). Scores are not scaled, queries, keys and
// values have no bias, and layers with all positions and with a window take turns.
#include "models/table.hpp"

namespace tapestry {
namespace {

// [[["global", "local"], 2]]: the pair twice.
std::vector<std::string> expanded(Config& c, const Json& types) {
  const auto refuse = [&c] {
    c.refuse("attention_types", "must be like [[[\"global\", \"local\"], 2]].");
  };
  std::vector<std::string> kinds;
  if (!types.is_array()) refuse();
  for (const Json& entry : types) {
    const bool good = entry.is_array() && entry.size() == 2 && entry[0].is_array() &&
                      !entry[0].empty() && entry[1].is_number_unsigned() &&
                      entry[1].get<std::uint64_t>() <= 65536;
    if (!good) refuse();
    for (std::uint64_t i = 0; i < entry[1].get<std::uint64_t>(); ++i) {
      for (const Json& kind : entry[0]) {
        if (!kind.is_string() || kinds.size() > 65536) refuse();
        kinds.push_back(kind.get<std::string>());
      }
    }
  }
  return kinds;
}

// The kind of each layer; "attention_layers" is "attention_types" written out.
std::vector<std::string> kinds_of_layers(Config& c, Index layers) {
  const Json* const types = c.find({"attention_types"});
  const Json* const each = c.find({"attention_layers"});
  std::vector<std::string> kinds;
  if (types != nullptr) {
    kinds = expanded(c, *types);
  } else if (each != nullptr) {
    kinds = expanded(c, Json::array({Json::array({*each, 1u})}));
  } else {
    for (Index i = 0; i < layers; ++i) kinds.push_back(i % 2 == 0 ? "global" : "local");
  }
  if (each != nullptr && *each != Json(kinds)) {
    c.refuse("attention_layers", "\"attention_types\" says otherwise.");
  }
  return kinds;
}

std::vector<Index> windows(Config& c, Index layers, Index window) {
  const std::vector<std::string> kinds = kinds_of_layers(c, layers);
  if (static_cast<Index>(kinds.size()) != layers) {
    c.refuse("attention_types", "must give " + std::to_string(layers) + " layers, not " +
                                    std::to_string(kinds.size()) + ".");
  }
  std::vector<Index> list;
  for (const std::string& kind : kinds) {
    if (kind != "global" && kind != "local") {
      c.refuse("attention_types", "layers are only \"global\" or \"local\".");
    }
    list.push_back(kind == "local" ? window : 0);
  }
  return list;
}

TransformerOptions options(Config& c) {
  TransformerOptions o;
  o.vocab_size = c.size({"vocab_size"}, 50257);
  o.max_length = c.size({"max_position_embeddings"}, 2048);
  o.d_model = c.size({"hidden_size"}, 2048);
  o.num_layers = c.layers({"num_layers", "num_hidden_layers"}, 24);
  o.num_heads = c.size({"num_heads", "num_attention_heads"}, 16);
  o.d_ff = c.size({"intermediate_size"}, 0);  // without one 4 d_model
  o.windows = windows(c, o.num_layers, c.size({"window_size"}, 256));
  o.activation = c.activation({"activation_function"}, "gelu_new");
  o.norm_eps = c.number({"layer_norm_epsilon"}, 1e-5);
  o.scores.scale = 1;
  o.attention_output_bias = true;
  o.tied_logits = c.flag({"tie_word_embeddings"}, true);
  c.harmless({"attention_dropout", "embed_dropout", "resid_dropout", "summary_activation",
              "summary_first_dropout", "summary_proj_to_labels", "summary_type",
              "summary_use_proj"});
  return o;
}

void write_config(const TransformerOptions& o, OrderedJson& json) {
  Index window = 256;
  OrderedJson kinds = OrderedJson::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(o.num_layers); ++i) {
    const Index of_layer = o.windows.empty() ? 0 : o.windows[i];
    if (of_layer > 0) window = of_layer;
    kinds.push_back(of_layer > 0 ? "local" : "global");
  }
  json["vocab_size"] = o.vocab_size;
  json["max_position_embeddings"] = o.max_length;
  json["hidden_size"] = o.d_model;
  json["num_layers"] = o.num_layers;
  json["num_heads"] = o.num_heads;
  json["intermediate_size"] = o.d_ff == 0 ? 4 * o.d_model : o.d_ff;
  json["attention_types"] = OrderedJson::array({OrderedJson::array({kinds, 1})});
  json["window_size"] = window;
  json["activation_function"] = activation_name(o.activation);
  json["layer_norm_epsilon"] = o.norm_eps;
  json["tie_word_embeddings"] = o.tied_logits;
}

}  // namespace

Architecture gpt_neo() {
  Architecture a = gpt("gpt_neo", "GPTNeo");
  a.model_class = "GPTNeoForCausalLM";
  a.passed_over = {{"h.#.attn.attention.bias", PassedOver::Kind::mask},
                   {"h.#.attn.attention.masked_bias", PassedOver::Kind::number}};
  a.options = options;
  a.write_config = write_config;
  add_maps(a.names, "h.#.",
           {{"attention.query", "attn.attention.q_proj"},
            {"attention.key", "attn.attention.k_proj"},
            {"attention.value", "attn.attention.v_proj"},
            {"attention.output", "attn.attention.out_proj"},
            {"feed_forward.up", "mlp.c_fc"},
            {"feed_forward.down", "mlp.c_proj"}});
  return a;
}

}  // namespace tapestry
