// Models written as other programs store them, and read again.
#include "catch.hpp"
#include "models/plain.hpp"
#include "models/tensors.hpp"
#include "nn/without.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

// One of each, with the options that its architecture has.
const char* const configs[] = {
    R"({"model_type":"gpt2","vocab_size":11,"n_positions":12,"n_embd":12,"n_layer":2,"n_head":3,
        "n_inner":20,"scale_attn_weights":false,"scale_attn_by_inverse_layer_idx":true})",
    R"({"model_type":"gpt2","vocab_size":11,"n_positions":12,"n_embd":12,"n_layer":2,"n_head":3,
        "activation_function":"relu","tie_word_embeddings":false,"layer_norm_epsilon":0.001})",
    R"({"model_type":"gpt_neo","vocab_size":11,"max_position_embeddings":12,"hidden_size":12,
        "num_layers":3,"num_heads":3,"window_size":4,
        "attention_types":[[["local","global"],1],[["local"],1]]})",
    R"({"model_type":"gpt_neox","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
        "num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":20,"rotary_pct":0.5,
        "use_parallel_residual":false,"rotary_emb_base":50})",
    R"({"model_type":"llama","vocab_size":11,"hidden_size":12,"num_hidden_layers":2,
        "num_attention_heads":6,"num_key_value_heads":2,"head_dim":4,"intermediate_size":10,
        "attention_bias":true,"mlp_bias":true,"rope_theta":500000,"tie_word_embeddings":true})",
    R"({"model_type":"mistral","vocab_size":11,"hidden_size":12,"num_hidden_layers":2,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10,
        "sliding_window":3})",
    R"({"model_type":"qwen2","vocab_size":11,"hidden_size":12,"num_hidden_layers":3,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10,
        "use_sliding_window":true,"sliding_window":3,"max_window_layers":1})",
    R"({"model_type":"bert","vocab_size":11,"max_position_embeddings":12,"hidden_size":12,
        "num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":10,
        "type_vocab_size":3})",
    // And each option other than a missing entry means.
    R"({"model_type":"gpt_neo","vocab_size":11,"max_position_embeddings":12,"hidden_size":12,
        "num_layers":3,"num_heads":3,"window_size":1,"intermediate_size":7,
        "attention_types":[[["global","local"],1],[["global"],1]],"activation_function":"relu",
        "layer_norm_epsilon":0.001,"tie_word_embeddings":false})",
    R"({"model_type":"gpt_neox","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
        "num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":20,"rotary_pct":1,
        "hidden_act":"gelu_new","attention_bias":false,"layer_norm_eps":0.001,
        "tie_word_embeddings":true})",
    R"({"model_type":"llama","vocab_size":11,"max_position_embeddings":12,"hidden_size":12,
        "num_hidden_layers":2,"num_attention_heads":6,"num_key_value_heads":1,
        "intermediate_size":10,"hidden_act":"gelu","rms_norm_eps":0.001})",
    R"({"model_type":"mistral","vocab_size":11,"hidden_size":12,"num_hidden_layers":2,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10,
        "sliding_window":null})",
    R"({"model_type":"mistral","vocab_size":11,"hidden_size":12,"num_hidden_layers":2,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10,
        "sliding_window":1})",
    R"({"model_type":"qwen2","vocab_size":11,"hidden_size":12,"num_hidden_layers":3,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10,
        "use_sliding_window":true,"sliding_window":1,
        "layer_types":["sliding_attention","full_attention","sliding_attention"]})",
    R"({"model_type":"qwen2","vocab_size":11,"hidden_size":12,"num_hidden_layers":3,
        "num_attention_heads":6,"num_key_value_heads":2,"intermediate_size":10})",
    R"({"model_type":"bert","vocab_size":11,"max_position_embeddings":12,"hidden_size":12,
        "num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":10,
        "hidden_act":"relu","layer_norm_eps":0.001,"tie_word_embeddings":false})",
    R"({"model_type":"stablelm","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
        "num_hidden_layers":2,"num_attention_heads":3,"num_key_value_heads":1,
        "intermediate_size":10})"};

Transformer scattered_model(const TransformerOptions& options) {
  Random random(5);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.4);
  return model;
}

}  // namespace

TEST_CASE("a model written and read again is the same, to the last bit",
          "[phase7][architectures]") {
  for (const char* text : configs) {
    const ModelConfig config = model_config(text);
    for (const bool has_logits : {true, false}) {
      CAPTURE(text, has_logits);
      const TransformerOptions options =
          has_logits ? config.options : without_logits(config.options);
      const Transformer model = scattered_model(options);
      const TemporaryFolder folder;
      write_model(folder / "new", model, config.architecture);
      std::vector<std::string> passed_over;
      const Transformer again = read_model(folder / "new", &passed_over);
      CHECK(same_bits(again(ids), model(ids)));
      CHECK(again.options.has_logits == has_logits);
      CHECK(passed_over.empty());
      const Safetensors file = read_safetensors(folder / "new/model.safetensors");
      CHECK(file.metadata.at("format") == "pt");
      write_model(folder / "twice", again, config.architecture);
      CHECK(content(folder / "twice/config.json") == content(folder / "new/config.json"));
      CHECK(content(folder / "twice/model.safetensors") ==
            content(folder / "new/model.safetensors"));
    }
  }
}

TEST_CASE("widths that follow from others are written out", "[phase7][architectures]") {
  for (const char* text : configs) {
    CAPTURE(text);
    const ModelConfig config = model_config(text);
    TransformerOptions o = config.options;
    o.d_ff = o.num_key_value_heads = o.rotary.width = o.d_k = 0;
    o.dropout = 0.1;
    o.attention_output_bias = o.attention_output_bias.value_or(o.attention_bias);
    if (o.windows.empty()) o.windows.resize(static_cast<std::size_t>(o.num_layers), 0);
    const TransformerOptions back = model_config(config_text(config.architecture, o)).options;
    CHECK(back.d_ff == 4 * o.d_model);
    if (config.options.num_key_value_heads > 0) CHECK(back.num_key_value_heads == o.num_heads);
    if (config.options.d_k > 0) CHECK(back.d_k == o.d_model / o.num_heads);
    if (config.options.rotary.width > 0) CHECK(back.rotary.width == o.d_model / o.num_heads);
    CHECK(back.dropout == 0);
  }
}

TEST_CASE("a config.json tells other programs of windows and numbers", "[phase7][architectures]") {
  const auto written = [](const std::string& type, const std::string& more) {
    const TransformerOptions o =
        model_config(R"({"model_type":")" + type + R"(","num_hidden_layers":3)" + more + "}")
            .options;
    return Json::parse(config_text(type, o));
  };
  const Json upper = written("qwen2", R"(,"use_sliding_window":true,"sliding_window":5,
                                         "max_window_layers":2)");
  CHECK((upper["use_sliding_window"] == true && upper["max_window_layers"] == 2));
  CHECK(upper["sliding_window"] == 5);
  const Json all = written("qwen2", R"(,"use_sliding_window":true,"max_window_layers":0)");
  CHECK((all["max_window_layers"] == 0 && all["sliding_window"] == 4096));
  const Json none = written("qwen2", "");
  CHECK((none["use_sliding_window"] == false && none["max_window_layers"] == 3));
  CHECK((none.at("sliding_window").is_null() && !none.contains("layer_types")));
  CHECK(none["torch_dtype"] == (in_double ? "float64" : "float32"));
  const Json neo = written("gpt_neo", R"(,"attention_types":[[["global"],3]])");
  CHECK(neo["window_size"] == 256);
}

TEST_CASE("one head is as wide as the model", "[phase7][architectures]") {
  TransformerOptions o = model_config(R"({"model_type":"llama","hidden_size":12,
                                          "num_attention_heads":1})")
                             .options;
  o.d_k = 0;
  CHECK(model_config(config_text("llama", o)).options.d_k == 12);
}

TEST_CASE("names in a written file are those of its architecture", "[phase7][architectures]") {
  const TemporaryFolder folder;
  write_model(folder / "", scattered_model(model_config(configs[0]).options), "gpt2");
  const Safetensors file = read_safetensors(folder / "model.safetensors");
  CHECK(file["transformer.h.1.attn.c_attn.weight"].shape() == Shape{12, 36});
  CHECK(file["transformer.h.1.attn.c_attn.bias"].shape() == Shape{36});
  CHECK(file.tensors.size() == 4 + 2 * 12);  // tied: no lm_head.weight
  const std::string text = content(folder / "config.json");
  CHECK(text.starts_with("{\n  \"architectures\": [\n    "));  // as others lay it out
  const Json config = Json::parse(text);
  CHECK(config["architectures"] == Json::array({"GPT2LMHeadModel"}));
  CHECK(config["n_inner"] == 20);
  write_model(folder / "", scattered_model(model_config(configs[3]).options), "gpt_neox");
  const Safetensors neox = read_safetensors(folder / "model.safetensors");
  CHECK(neox["gpt_neox.layers.0.attention.query_key_value.weight"].shape() == Shape{72, 24});
  CHECK(neox["embed_out.weight"].shape() == Shape{11, 24});
}

TEST_CASE("a model learned here is written as gpt2, with zeros for biases that it lacks",
          "[phase7][architectures]") {
  const Transformer model = scattered_model({.vocab_size = 11, .max_length = 12});
  const TemporaryFolder folder;
  write_model(folder / "", model, "gpt2");
  const Transformer again = read_model(folder / "");
  CHECK(same_bits(again(ids), model(ids)));
  CHECK(max(abs(again.blocks[1].attention.key.bias)).item() == 0);
  CHECK(read_safetensors(folder / "model.safetensors")["lm_head.weight"].shape() == Shape{11, 64});
}

TEST_CASE("a model that its architecture cannot be is not written", "[phase7][architectures]") {
  const TemporaryFolder folder;
  const auto refused = [&](const TransformerOptions& options, const char* architecture,
                           std::initializer_list<const char*> words) {
    const Transformer model = scattered_model(options);
    const std::string said =
        complaint([&] { write_model(folder / "new", model, architecture); }, words);
    return std::filesystem::exists(folder / "new") ? "something was written" : said;
  };
  TransformerOptions o = {.vocab_size = 11, .max_length = 12, .num_layers = 2};
  CHECK(refused(o, "gpt3", {"'gpt3' is not known", "gpt2 gpt_neo gpt_neox llama"}) == "");
  CHECK(refused(o, "llama", {"write_model: ", " in this model, but ", "architecture llama"}) == "");
  o.norm_kind = NormKind::rms;
  CHECK(refused(o, "gpt2", {"write_model: norm_kind is rms in this model, but default"}) == "");
  o.norm_kind = NormKind::layer;
  o.windows = {0, 4};
  CHECK(refused(o, "gpt2", {"windows is 0 4 in this model"}) == "");
  o.windows = {};
  o.logits_bias = true;
  CHECK(refused(o, "gpt2", {"logits_bias is true in this model"}) == "");
  o.logits_bias = false;
  o.scores.scale = 0.3;
  CHECK(refused(o, "gpt2", {"scale is 0.3 in this model, but 1"}) == "");
  TransformerOptions neo = model_config(configs[2]).options;
  neo.windows = {2, 0, 3};
  CHECK(refused(neo, "gpt_neo", {"windows is 2 0 3 in this model, but 3 0 3"}) == "");
  neo.attention_bias = true;
  neo.windows = {};
  CHECK(refused(neo, "gpt_neo", {"attention_bias is true in this model, but false"}) == "");
}

TEST_CASE("if the weights cannot be written, config.json stays as it was",
          "[phase7][architectures]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "model.safetensors");  // no file can replace it
  write_text(folder / "config.json", "mine");
  const Transformer model = scattered_model(model_config(configs[0]).options);
  CHECK(complaint([&] { write_model(folder / "", model, "gpt2"); },
                  {"cannot write", "model.safetensors: it is a folder"}) == "");
  CHECK(content(folder / "config.json") == "mine");
}

TEST_CASE("a layer's number stands for itself in names, whatever its digits",
          "[phase7][architectures]") {
  const LayerName norm("blocks.19.norm.weight"), other("words.weight");
  CHECK((norm.pattern == "blocks.#.norm.weight" && norm.number == "19"));
  CHECK((other.pattern == "words.weight" && other.number.empty()));
  const StoredName name = stored_name(architecture("gpt2"), "blocks.90.feed_forward.up.bias", "p.");
  CHECK(name.tensor == "p.h.90.mlp.c_fc.bias");
}

TEST_CASE("a share that would be rounded below its width is written half a number higher",
          "[phase7][architectures]") {
  CHECK(rotary_share({.width = 30}, 44) == 30.5 / 44);  // 44 (30 / 44) is less than 30
  CHECK(rotary_share({.width = 22}, 44) == 0.5);
}

TEST_CASE("every width of rotary positions is read as it was written", "[phase7][architectures]") {
  int read = 0, wanted = 0;
  for (const char* name : {"gpt_neox", "stablelm"}) {
    for (Index d_k = 2; d_k <= 128; d_k += 2) {
      TransformerOptions o =
          model_config(R"({"model_type":")" + std::string(name) + R"(","num_attention_heads":2,
                           "partial_rotary_factor":1,"hidden_size":)" +
                       std::to_string(2 * d_k) + "}")
              .options;
      for (o.rotary.width = 2; o.rotary.width <= d_k; o.rotary.width += 2) {
        ++wanted;
        read += model_config(config_text(name, o)).options.rotary.width == o.rotary.width ? 1 : 0;
      }
    }
  }
  CHECK(read == wanted);
  CHECK(wanted == 2 * 64 * 65 / 2);
}
