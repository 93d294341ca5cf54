// Llama, Mistral and Qwen2: folders of random weights against a forward pass written out.
#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

Json config_of(const char* type, const Json& changes) {
  Json config = {
      {"model_type", type},       {"vocab_size", 11},       {"max_position_embeddings", 12},
      {"hidden_size", 12},        {"num_hidden_layers", 3}, {"num_attention_heads", 6},
      {"num_key_value_heads", 2}, {"intermediate_size", 10}};
  if (std::string(type) == "llama") config["head_dim"] = 4;
  if (!changes.is_null()) config.update(changes);
  return config;
}

Index head_width(const Json& c) {
  return c.value("head_dim", Index(c["hidden_size"]) / Index(c["num_attention_heads"]));
}

Shapes shapes_of(const Json& c) {
  const Index d = c["hidden_size"], f = c["intermediate_size"], heads = c["num_attention_heads"];
  const Index q = heads * head_width(c), k = c.value("num_key_value_heads", heads) * head_width(c);
  const bool qwen = c["model_type"] == "qwen2";
  Shapes s = {{"model.embed_tokens.weight", {11, d}}, {"model.norm.weight", {d}}};
  if (!c.value("tie_word_embeddings", false)) s.push_back({"lm_head.weight", {11, d}});
  for (Index i = 0; i < c["num_hidden_layers"]; ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".", a = l + "self_attn.";
    s.insert(s.end(), {{l + "input_layernorm.weight", {d}},
                       {l + "post_attention_layernorm.weight", {d}},
                       {a + "q_proj.weight", {q, d}},
                       {a + "k_proj.weight", {k, d}},
                       {a + "v_proj.weight", {k, d}},
                       {a + "o_proj.weight", {d, q}},
                       {l + "mlp.gate_proj.weight", {f, d}},
                       {l + "mlp.up_proj.weight", {f, d}},
                       {l + "mlp.down_proj.weight", {d, f}}});
    if (c.value("attention_bias", qwen)) {
      s.insert(s.end(),
               {{a + "q_proj.bias", {q}}, {a + "k_proj.bias", {k}}, {a + "v_proj.bias", {k}}});
    }
    if (c.value("attention_bias", false)) s.push_back({a + "o_proj.bias", {d}});
    if (c.value("mlp_bias", false)) {
      s.insert(s.end(), {{l + "mlp.gate_proj.bias", {f}},
                         {l + "mlp.up_proj.bias", {f}},
                         {l + "mlp.down_proj.bias", {d}}});
    }
  }
  return s;
}

Tensor forward(const Json& c, const Weights& w, const std::vector<Index>& windows) {
  const Index heads = c["num_attention_heads"], groups = c.value("num_key_value_heads", heads);
  const Index d_k = head_width(c);
  const double eps = c.value("rms_norm_eps", 1e-6);
  double base = c.value("rope_theta", 10000.0);
  if (c.contains("rope_parameters")) base = c["rope_parameters"]["rope_theta"];
  Tensor x = rows_of(w, "model.embed_tokens.weight");
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".", a = l + "self_attn.";
    const Tensor y = rms_norm(w, l + "input_layernorm", x, eps);
    const Tensor q = turned(heads_of(map(w, a + "q_proj", y), heads), d_k, base);
    const Tensor k = turned(heads_of(map(w, a + "k_proj", y), groups), d_k, base);
    const Tensor v = heads_of(map(w, a + "v_proj", y), groups);
    const Attending how{.scale = 1 / std::sqrt(double(d_k)), .window = windows[i]};
    x = x + map(w, a + "o_proj",
                attend(q, repeated(k, heads / groups), repeated(v, heads / groups), how));
    const Tensor z = rms_norm(w, l + "post_attention_layernorm", x, eps);
    const Tensor gate = activated(c.value("hidden_act", "silu"), map(w, l + "mlp.gate_proj", z));
    x = x + map(w, l + "mlp.down_proj", gate * map(w, l + "mlp.up_proj", z));
  }
  x = rms_norm(w, "model.norm", x, eps);
  const bool tied = c.value("tie_word_embeddings", false);
  return matmul(x, transpose(w.at(tied ? "model.embed_tokens.weight" : "lm_head.weight")));
}

std::string wrong(const char* type, const Json& changes,
                  const std::vector<Index>& windows = {0, 0, 0}) {
  const TemporaryFolder folder;
  const Json config = config_of(type, changes);
  const Weights weights = random_weights(shapes_of(config));
  write_folder(folder, config, weights);
  const std::string said =
      difference_to(read_model(folder / "")(ids), forward(config, weights, windows), 10 * nearly);
  return said.empty() ? "" : config.dump() + ": " + said;
}

std::string wrong_gradient(const char* type, const Json& changes) {
  const TemporaryFolder folder;
  const Json config = config_of(type, changes);
  write_folder(folder, config, random_weights(shapes_of(config)));
  const Transformer model = read_model(folder / "");
  GradcheckOptions fine;
  fine.eps = in_double ? 1e-4 : 4e-3;
  return wrong_gradient_of(
      model.parameters(), [&] { return cross_entropy(model(ids), ids); }, fine);
}

}  // namespace

TEST_CASE("llama as written out, with each of its options", "[phase7][architectures]") {
  CHECK(wrong("llama", {}) == "");
  CHECK(wrong("llama", {{"num_key_value_heads", 6}}) == "");
  CHECK(wrong("llama", {{"num_key_value_heads", 1}, {"head_dim", 6}}) == "");
  CHECK(wrong("llama", {{"hidden_size", 16}, {"head_dim", 2}}) == "");
  CHECK(wrong("llama", {{"tie_word_embeddings", true}}) == "");
  CHECK(wrong("llama", {{"attention_bias", true}}) == "");
  CHECK(wrong("llama", {{"mlp_bias", true}}) == "");
  CHECK(wrong("llama", {{"rope_theta", 50}}) == "");
  CHECK(wrong("llama", {{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7.5}}}}) ==
        "");
  CHECK(wrong("llama", {{"rope_scaling", {{"type", "default"}}}}) == "");
  CHECK(wrong("llama", {{"rms_norm_eps", 0.1}}) == "");
  CHECK(wrong("llama", {{"hidden_act", "gelu"}}) == "");
  CHECK(wrong("llama", {{"pretraining_tp", 2}, {"rope_scaling", nullptr}}) == "");
}

TEST_CASE("without head_dim a head is hidden_size / num_attention_heads wide, rounded down",
          "[phase7][architectures]") {
  Json config = config_of("llama", {{"hidden_size", 14}, {"num_key_value_heads", 3}});
  config.erase("head_dim");
  const Weights weights = random_weights(shapes_of(config));
  const TemporaryFolder folder;
  write_folder(folder, config, weights);
  CHECK(weights.at("model.layers.0.self_attn.q_proj.weight").shape() == Shape{12, 14});
  CHECK(difference_to(read_model(folder / "")(ids), forward(config, weights, {0, 0, 0}),
                      10 * nearly) == "");
}

TEST_CASE("mistral as written out: a window in all layers, unless it is null",
          "[phase7][architectures]") {
  CHECK(wrong("mistral", {{"sliding_window", 3}}, {3, 3, 3}) == "");
  CHECK(wrong("mistral", {{"sliding_window", 1}}, {1, 1, 1}) == "");
  CHECK(wrong("mistral", {{"sliding_window", nullptr}}) == "");
  CHECK(wrong("mistral", {{"sliding_window", 4}, {"head_dim", 4}}, {4, 4, 4}) == "");
  CHECK(wrong("mistral", {}) == "");  // 4096, which this text does not reach
  const TemporaryFolder folder;
  const Json config = config_of("mistral", {});
  write_folder(folder, config, random_weights(shapes_of(config)));
  CHECK(read_model(folder / "").options.windows == std::vector<Index>{4096, 4096, 4096});
}

TEST_CASE("qwen2 as written out: a window only if told, in the upper layers",
          "[phase7][architectures]") {
  CHECK(wrong("qwen2", {}) == "");
  CHECK(wrong("qwen2", {{"sliding_window", 3}, {"max_window_layers", 1}}) == "");
  const Json told = {{"use_sliding_window", true}, {"sliding_window", 3}};
  const auto and_also = [&](Json more) {
    more.update(told);
    return more;
  };
  CHECK(wrong("qwen2", told) == "");  // from layer 28 on
  CHECK(wrong("qwen2", and_also({{"max_window_layers", 1}}), {0, 3, 3}) == "");
  CHECK(wrong("qwen2", and_also({{"max_window_layers", 0}}), {3, 3, 3}) == "");
  CHECK(wrong("qwen2", {{"use_sliding_window", true}, {"sliding_window", nullptr}}) == "");
  CHECK(
      wrong("qwen2",
            and_also({{"max_window_layers", 2},
                      {"layer_types", {"full_attention", "full_attention", "sliding_attention"}}}),
            {0, 0, 3}) == "");
  CHECK(wrong("qwen2",
              and_also({{"layer_types",  // these count, not max_window_layers
                         {"sliding_attention", "full_attention", "sliding_attention"}}}),
              {3, 0, 3}) == "");
  CHECK(wrong("qwen2", {{"rope_theta", 1e6}, {"tie_word_embeddings", true}}) == "");
}

TEST_CASE("heads of keys and values that are null are as many as heads",
          "[phase7][architectures]") {
  for (const char* type : {"llama", "mistral", "qwen2"}) {
    Json config = config_of(type, {});
    config["num_key_value_heads"] = 6;
    const Weights weights = random_weights(shapes_of(config));
    const Tensor expected = forward(config, weights, {0, 0, 0});
    config["num_key_value_heads"] = nullptr;
    const TemporaryFolder folder;
    write_folder(folder, config, weights);
    CHECK(difference_to(read_model(folder / "")(ids), expected, 10 * nearly) == "");
  }
}

TEST_CASE("the gradients of tiny llamas are right", "[phase7][architectures]") {
  CHECK(wrong_gradient("llama", {{"attention_bias", true}, {"mlp_bias", true}}) == "");
  CHECK(wrong_gradient("mistral", {{"sliding_window", 3}}) == "");
  CHECK(wrong_gradient("qwen2", {{"tie_word_embeddings", true}}) == "");
}
