// GPT-2, GPT-Neo and GPT-NeoX: folders of random weights against forward passes written out.
#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

// ---- GPT-2

Shapes gpt2_shapes(const Json& c) {
  const Index d = c["n_embd"], f = c.value("n_inner", 4 * d);
  Shapes s = {
      {"wte.weight", {11, d}}, {"wpe.weight", {12, d}}, {"ln_f.weight", {d}}, {"ln_f.bias", {d}}};
  for (Index i = 0; i < c["n_layer"]; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    s.insert(s.end(), {{h + "ln_1.weight", {d}},
                       {h + "ln_1.bias", {d}},
                       {h + "ln_2.weight", {d}},
                       {h + "ln_2.bias", {d}},
                       {h + "attn.c_attn.weight", {d, 3 * d}},
                       {h + "attn.c_attn.bias", {3 * d}},
                       {h + "attn.c_proj.weight", {d, d}},
                       {h + "attn.c_proj.bias", {d}},
                       {h + "mlp.c_fc.weight", {d, f}},
                       {h + "mlp.c_fc.bias", {f}},
                       {h + "mlp.c_proj.weight", {f, d}},
                       {h + "mlp.c_proj.bias", {d}}});
  }
  if (!c.value("tie_word_embeddings", true)) s.push_back({"lm_head.weight", {11, d}});
  return s;
}

// Weights are stored (in, out).
Tensor conv(const Weights& w, const std::string& name, const Tensor& x) {
  return matmul(x, w.at(name + ".weight")) + w.at(name + ".bias");
}

Tensor gpt2(const Json& c, const Weights& w) {
  const Index d = c["n_embd"], heads = c["n_head"];
  const double eps = c.value("layer_norm_epsilon", 1e-5);
  Tensor x = rows_of(w, "wte.weight") + first_rows(w, "wpe.weight");
  for (Index i = 0; i < c["n_layer"]; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    const Tensor qkv = conv(w, h + "attn.c_attn", layer_norm(w, h + "ln_1", x, eps));
    const auto part = [&](Index p) { return heads_of(slice(qkv, 1, p * d, (p + 1) * d), heads); };
    double scale = c.value("scale_attn_weights", true) ? 1 / std::sqrt(double(d / heads)) : 1;
    if (c.value("scale_attn_by_inverse_layer_idx", false)) scale /= double(i + 1);
    x = x + conv(w, h + "attn.c_proj", attend(part(0), part(1), part(2), {scale}));
    const Tensor y = conv(w, h + "mlp.c_fc", layer_norm(w, h + "ln_2", x, eps));
    x = x + conv(w, h + "mlp.c_proj", activated(c.value("activation_function", "gelu_new"), y));
  }
  x = layer_norm(w, "ln_f", x, eps);
  const bool tied = c.value("tie_word_embeddings", true);
  return matmul(x, transpose(w.at(tied ? "wte.weight" : "lm_head.weight")));
}

const Json gpt2_config = {{"model_type", "gpt2"}, {"vocab_size", 11}, {"n_positions", 12},
                          {"n_embd", 12},         {"n_layer", 3},     {"n_head", 3}};

// ---- GPT-Neo

Shapes gpt_neo_shapes(const Json& c) {
  const Index d = c["hidden_size"], f = c.value("intermediate_size", 4 * d);
  Shapes s = {{"transformer.wte.weight", {11, d}},
              {"transformer.wpe.weight", {12, d}},
              {"transformer.ln_f.weight", {d}},
              {"transformer.ln_f.bias", {d}}};
  for (Index i = 0; i < c["num_layers"]; ++i) {
    const std::string h = "transformer.h." + std::to_string(i) + ".";
    for (const char* norm : {"ln_1", "ln_2"}) {
      s.insert(s.end(), {{h + norm + ".weight", {d}}, {h + norm + ".bias", {d}}});
    }
    for (const char* one : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      s.push_back({h + "attn.attention." + one + ".weight", {d, d}});
    }
    s.insert(s.end(), {{h + "attn.attention.out_proj.bias", {d}},
                       {h + "mlp.c_fc.weight", {f, d}},
                       {h + "mlp.c_fc.bias", {f}},
                       {h + "mlp.c_proj.weight", {d, f}},
                       {h + "mlp.c_proj.bias", {d}}});
  }
  return s;
}

Tensor gpt_neo(const Json& c, const Weights& w, const std::vector<Index>& windows) {
  const Index heads = c["num_heads"];
  const double eps = c.value("layer_norm_epsilon", 1e-5);
  Tensor x = rows_of(w, "transformer.wte.weight") + first_rows(w, "transformer.wpe.weight");
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::string h = "transformer.h." + std::to_string(i) + ".", a = h + "attn.attention.";
    const Tensor y = layer_norm(w, h + "ln_1", x, eps);
    const auto part = [&](const char* name) { return heads_of(map(w, a + name, y), heads); };
    const Attending how{.scale = 1, .window = windows[i]};
    x = x + map(w, a + "out_proj", attend(part("q_proj"), part("k_proj"), part("v_proj"), how));
    const Tensor up = map(w, h + "mlp.c_fc", layer_norm(w, h + "ln_2", x, eps));
    x = x + map(w, h + "mlp.c_proj", activated(c.value("activation_function", "gelu_new"), up));
  }
  x = layer_norm(w, "transformer.ln_f", x, eps);
  return matmul(x, transpose(w.at("transformer.wte.weight")));
}

const Json gpt_neo_config = {{"model_type", "gpt_neo"},
                             {"vocab_size", 11},
                             {"max_position_embeddings", 12},
                             {"hidden_size", 12},
                             {"num_layers", 4},
                             {"num_heads", 3},
                             {"attention_types", {{{"global", "local"}, 2}}},
                             {"window_size", 3}};

// ---- GPT-NeoX

Shapes gpt_neox_shapes(const Json& c) {
  const Index d = c["hidden_size"], f = c["intermediate_size"];
  Shapes s = {{"gpt_neox.embed_in.weight", {11, d}},
              {"gpt_neox.final_layer_norm.weight", {d}},
              {"gpt_neox.final_layer_norm.bias", {d}}};
  if (!c.value("tie_word_embeddings", false)) s.push_back({"embed_out.weight", {11, d}});
  for (Index i = 0; i < c["num_hidden_layers"]; ++i) {
    const std::string l = "gpt_neox.layers." + std::to_string(i) + ".";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
      s.insert(s.end(), {{l + norm + ".weight", {d}}, {l + norm + ".bias", {d}}});
    }
    s.insert(s.end(), {{l + "attention.query_key_value.weight", {3 * d, d}},
                       {l + "attention.dense.weight", {d, d}},
                       {l + "mlp.dense_h_to_4h.weight", {f, d}},
                       {l + "mlp.dense_h_to_4h.bias", {f}},
                       {l + "mlp.dense_4h_to_h.weight", {d, f}},
                       {l + "mlp.dense_4h_to_h.bias", {d}}});
    if (c.value("attention_bias", true)) {
      s.insert(s.end(), {{l + "attention.query_key_value.bias", {3 * d}},
                         {l + "attention.dense.bias", {d}}});
    }
  }
  return s;
}

Tensor gpt_neox(const Json& c, const Weights& w) {
  const Index d = c["hidden_size"], heads = c["num_attention_heads"], d_k = d / heads;
  const auto width = static_cast<Index>(double(d_k) * c.value("rotary_pct", 0.25));
  const double eps = c.value("layer_norm_eps", 1e-5), base = c.value("rotary_emb_base", 10000.0);
  Tensor x = rows_of(w, "gpt_neox.embed_in.weight");
  for (Index i = 0; i < c["num_hidden_layers"]; ++i) {
    const std::string l = "gpt_neox.layers." + std::to_string(i) + ".";
    const Tensor qkv = map(w, l + "attention.query_key_value",
                           layer_norm(w, l + "input_layernorm", x, eps));  // (length, 3 d)
    const Tensor by_head = heads_of(qkv, heads);                           // (heads, length, 3 d_k)
    const auto part = [&](Index p) { return slice(by_head, 2, p * d_k, (p + 1) * d_k); };
    const Tensor attended = map(w, l + "attention.dense",
                                attend(turned(part(0), width, base), turned(part(1), width, base),
                                       part(2), {1 / std::sqrt(double(d_k))}));
    const Tensor middle = x + attended;
    const Tensor seen = c.value("use_parallel_residual", true) ? x : middle;
    const Tensor up =
        map(w, l + "mlp.dense_h_to_4h", layer_norm(w, l + "post_attention_layernorm", seen, eps));
    x = middle + map(w, l + "mlp.dense_4h_to_h", activated(c.value("hidden_act", "gelu"), up));
  }
  x = layer_norm(w, "gpt_neox.final_layer_norm", x, eps);
  const bool tied = c.value("tie_word_embeddings", false);
  return matmul(x, transpose(w.at(tied ? "gpt_neox.embed_in.weight" : "embed_out.weight")));
}

const Json gpt_neox_config = {{"model_type", "gpt_neox"},      {"vocab_size", 11},
                              {"max_position_embeddings", 12}, {"hidden_size", 24},
                              {"num_hidden_layers", 2},        {"num_attention_heads", 3},
                              {"intermediate_size", 20}};

Json with(Json config, const Json& changes) {
  config.update(changes);
  return config;
}

std::string wrong(const Json& config, const Weights& weights, const Tensor& expected) {
  const TemporaryFolder folder;
  write_folder(folder, config, weights);
  return difference_to(read_model(folder / "")(ids), expected, 10 * nearly);
}

std::string wrong_gradient(const Json& config, const Shapes& shapes) {
  const TemporaryFolder folder;
  write_folder(folder, config, random_weights(shapes));
  const Transformer model = read_model(folder / "");
  GradcheckOptions fine;
  fine.eps = in_double ? 1e-4 : 4e-3;
  return wrong_gradient_of(
      model.parameters(), [&] { return cross_entropy(model(ids), ids); }, fine);
}

}  // namespace

TEST_CASE("gpt2 as written out, with each of its options", "[phase7][architectures]") {
  for (const Json& change :
       {Json::object(), Json{{"n_inner", 20}}, Json{{"activation_function", "relu"}},
        Json{{"activation_function", "gelu"}}, Json{{"scale_attn_weights", false}},
        Json{{"scale_attn_by_inverse_layer_idx", true}}, Json{{"layer_norm_epsilon", 0.1}},
        Json{{"tie_word_embeddings", false}}, Json{{"n_inner", nullptr}, {"n_head", 6}}}) {
    CAPTURE(change.dump());
    Json config = with(gpt2_config, change);
    const Json same = change.contains("n_head") ? with(gpt2_config, {{"n_head", 6}}) : config;
    const Weights weights = random_weights(gpt2_shapes(same));
    CHECK(wrong(config, weights, gpt2(same, weights)) == "");
  }
}

TEST_CASE("gpt_neo as written out, with each of its options", "[phase7][architectures]") {
  const auto check = [](const Json& change, const std::vector<Index>& windows) {
    CAPTURE(change.dump());
    const Json config = with(gpt_neo_config, change);
    const Weights weights = random_weights(gpt_neo_shapes(config));
    CHECK(wrong(config, weights, gpt_neo(config, weights, windows)) == "");
  };
  const Json types = {{{"local", "global", "local"}, 1}, {{"global"}, 1}};
  check(Json::object(), {0, 3, 0, 3});
  check({{"window_size", 1}}, {0, 1, 0, 1});
  check({{"window_size", 100}, {"intermediate_size", 7}}, {0, 100, 0, 100});
  check({{"attention_types", types}}, {3, 0, 3, 0});
  check({{"attention_types", nullptr}}, {0, 3, 0, 3});
  check({{"attention_types", nullptr}, {"attention_layers", {"local", "local", "global", "local"}}},
        {3, 3, 0, 3});
  check({{"attention_layers", {"global", "local", "global", "local"}}}, {0, 3, 0, 3});
  check({{"activation_function", "silu"}, {"layer_norm_epsilon", 0.01}}, {0, 3, 0, 3});
}

TEST_CASE("gpt_neox as written out, with each of its options", "[phase7][architectures]") {
  for (const Json& change :
       {Json::object(), Json{{"use_parallel_residual", false}}, Json{{"rotary_pct", 1.0}},
        Json{{"rotary_pct", 0.5}, {"rotary_emb_base", 100}}, Json{{"hidden_act", "gelu_new"}},
        Json{{"attention_bias", false}}, Json{{"tie_word_embeddings", true}},
        Json{{"layer_norm_eps", 0.01}}}) {
    CAPTURE(change.dump());
    const Json config = with(gpt_neox_config, change);
    const Weights weights = random_weights(gpt_neox_shapes(config));
    CHECK(wrong(config, weights, gpt_neox(config, weights)) == "");
  }
}

TEST_CASE("the buffers of gpt_neo and gpt_neox are passed over", "[phase7][architectures]") {
  struct Files {
    Json config;
    Weights weights;
    std::vector<std::pair<std::string, Tensor>> buffers;
  };
  const std::string h = "transformer.h.1.attn.attention.", l = "gpt_neox.layers.1.attention.";
  const Tensor mask = Tensor::ones({1, 1, 12, 12}), number = Tensor::full({}, -1e9);
  const std::vector<Files> all = {{gpt_neo_config,
                                   random_weights(gpt_neo_shapes(gpt_neo_config)),
                                   {{h + "bias", mask}, {h + "masked_bias", number}}},
                                  {gpt_neox_config,
                                   random_weights(gpt_neox_shapes(gpt_neox_config)),
                                   {{l + "bias", mask},
                                    {l + "masked_bias", number},
                                    {l + "rotary_emb.inv_freq", Tensor({1}, {1})}}}};
  for (const Files& files : all) {
    const TemporaryFolder bare, full;
    write_folder(bare, files.config, files.weights);
    Weights more = files.weights;
    std::vector<std::string> names, passed_over;
    for (const auto& [name, tensor] : files.buffers) more[name] = tensor, names.push_back(name);
    write_folder(full, files.config, more);
    CHECK(same_bits(read_model(full / "", &passed_over)(ids), read_model(bare / "")(ids)));
    std::sort(passed_over.begin(), passed_over.end());
    CHECK(passed_over == names);
  }
}

TEST_CASE("gpt_neox as later files write it", "[phase7][architectures]") {
  const Json config = with(gpt_neox_config, {{"rotary_pct", 0.5}, {"rotary_emb_base", 100}});
  const Weights weights = random_weights(gpt_neox_shapes(config));
  const Json later =
      with(gpt_neox_config,
           {{"rope_parameters",
             {{"rope_type", "default"}, {"rope_theta", 100}, {"partial_rotary_factor", 0.5}}},
            {"is_decoder", true}});
  CHECK(wrong(later, weights, gpt_neox(config, weights)) == "");
}

TEST_CASE("the gradients of tiny GPTs are right", "[phase7][architectures]") {
  CHECK(wrong_gradient(gpt2_config, gpt2_shapes(gpt2_config)) == "");
  CHECK(wrong_gradient(gpt_neo_config, gpt_neo_shapes(gpt_neo_config)) == "");
  CHECK(wrong_gradient(gpt_neox_config, gpt_neox_shapes(gpt_neox_config)) == "");
}
