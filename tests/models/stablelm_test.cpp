// StableLM: folders of random weights against a forward pass written out.
#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

Json config_of(const Json& changes) {
  Json config = {{"model_type", "stablelm"}, {"vocab_size", 11},         {"hidden_size", 24},
                 {"num_hidden_layers", 2},   {"num_attention_heads", 3}, {"num_key_value_heads", 1},
                 {"intermediate_size", 10}};
  if (!changes.is_null()) config.update(changes);
  return config;
}

Shapes shapes_of(const Json& c) {
  const Index k = 8 * Index(c["num_key_value_heads"]);
  Shapes s = {{"model.embed_tokens.weight", {11, 24}},
              {"model.norm.weight", {24}},
              {"model.norm.bias", {24}}};
  if (!c.value("tie_word_embeddings", false)) s.push_back({"lm_head.weight", {11, 24}});
  for (Index i = 0; i < 2; ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".", a = l + "self_attn.";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
      s.insert(s.end(), {{l + norm + ".weight", {24}}, {l + norm + ".bias", {24}}});
    }
    s.insert(s.end(), {{a + "q_proj.weight", {24, 24}},
                       {a + "k_proj.weight", {k, 24}},
                       {a + "v_proj.weight", {k, 24}},
                       {a + "o_proj.weight", {24, 24}},
                       {l + "mlp.gate_proj.weight", {10, 24}},
                       {l + "mlp.up_proj.weight", {10, 24}},
                       {l + "mlp.down_proj.weight", {24, 10}}});
    if (c.value("use_qkv_bias", false)) {
      s.insert(s.end(),
               {{a + "q_proj.bias", {24}}, {a + "k_proj.bias", {k}}, {a + "v_proj.bias", {k}}});
    }
  }
  return s;
}

Tensor forward(const Json& c, const Weights& w) {
  const Index groups = c["num_key_value_heads"];
  const double eps = c.value("layer_norm_eps", 1e-5), base = c.value("rope_theta", 10000.0);
  const auto width = static_cast<Index>(8 * c.value("partial_rotary_factor", 0.25));
  Tensor x = rows_of(w, "model.embed_tokens.weight");
  for (Index i = 0; i < 2; ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".", a = l + "self_attn.";
    const Tensor y = layer_norm(w, l + "input_layernorm", x, eps);
    const Tensor q = turned(heads_of(map(w, a + "q_proj", y), 3), width, base);
    const Tensor k = turned(heads_of(map(w, a + "k_proj", y), groups), width, base);
    const Tensor v = heads_of(map(w, a + "v_proj", y), groups);
    const Tensor mixed =
        attend(q, repeated(k, 3 / groups), repeated(v, 3 / groups), {1 / std::sqrt(8.0)});
    x = x + map(w, a + "o_proj", mixed);
    const Tensor z = layer_norm(w, l + "post_attention_layernorm", x, eps);
    const Tensor gate = activated(c.value("hidden_act", "silu"), map(w, l + "mlp.gate_proj", z));
    x = x + map(w, l + "mlp.down_proj", gate * map(w, l + "mlp.up_proj", z));
  }
  const bool tied = c.value("tie_word_embeddings", false);
  return matmul(layer_norm(w, "model.norm", x, eps),
                transpose(w.at(tied ? "model.embed_tokens.weight" : "lm_head.weight")));
}

}  // namespace

TEST_CASE("stablelm as written out, with each of its options", "[phase7][architectures]") {
  for (const Json& change :
       {Json(), Json{{"use_qkv_bias", true}}, Json{{"num_key_value_heads", 3}},
        Json{{"partial_rotary_factor", 1.0}}, Json{{"partial_rotary_factor", 0.5}},
        Json{{"rope_theta", 100}}, Json{{"layer_norm_eps", 0.1}}, Json{{"hidden_act", "gelu"}},
        Json{{"tie_word_embeddings", true}},
        Json{{"attention_dropout", 0.1}, {"hidden_dropout", 0.1}}}) {
    CAPTURE(change.dump());
    const Json config = config_of(change);
    const Weights weights = random_weights(shapes_of(config));
    const TemporaryFolder folder;
    write_folder(folder, config, weights);
    const Transformer model = read_model(folder / "");
    CHECK(difference_to(model(ids), forward(config, weights), 10 * nearly) == "");
    write_model(folder / "again", model, "stablelm");
    CHECK(same_bits(read_model(folder / "again")(ids), model(ids)));
  }
}

TEST_CASE("stablelm with one norm for both, or norms of queries, is refused",
          "[phase7][architectures]") {
  const auto said = [](const char* option) {
    return complaint([&] { model_config(config_of({{option, true}}).dump()); },
                     {option, "only 'false' is supported"});
  };
  CHECK(said("use_parallel_residual") == "");
  CHECK(said("qk_layernorm") == "");
  const TransformerOptions o = model_config(R"({"model_type":"stablelm"})").options;
  CHECK((o.vocab_size == 50304 && o.d_ff == 6912 && o.rotary.width == 20));
  CHECK((o.num_layers == 32 && o.num_heads == 32 && o.num_key_value_heads == 32));
  CHECK((o.d_model == 2560 && o.max_length == 4096 && !o.attention_bias && o.norm_eps == 1e-5));
}

TEST_CASE("the gradients of a tiny stablelm are right", "[phase7][architectures]") {
  const Json config = config_of({{"use_qkv_bias", true}});
  const TemporaryFolder folder;
  write_folder(folder, config, random_weights(shapes_of(config)));
  const Transformer model = read_model(folder / "");
  GradcheckOptions fine;
  fine.eps = in_double ? 1e-4 : 4e-3;
  CHECK(wrong_gradient_of(
            model.parameters(), [&] { return cross_entropy(model(ids), ids); }, fine) == "");
}
