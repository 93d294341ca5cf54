// config.json: what it means when it says nothing, and what it may not say.
#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/models/architecture.hpp"

using namespace plain;

namespace {

TransformerOptions defaults_of(const std::string& type) {
  return model_config(R"({"model_type":")" + type + "\"}").options;
}

std::string said(const std::string& type, const std::string& entry,
                 std::initializer_list<const char*> words) {
  return complaint([&] { model_config(R"({"model_type":")" + type + "\"," + entry + "}"); }, words);
}

}  // namespace

TEST_CASE("what config.json leaves out is as in transformers", "[phase7][architectures]") {
  const TransformerOptions gpt2 = defaults_of("gpt2");
  CHECK((gpt2.vocab_size == 50257 && gpt2.max_length == 1024 && gpt2.d_model == 768));
  CHECK((gpt2.num_layers == 12 && gpt2.num_heads == 12 && gpt2.d_ff == 0));
  CHECK((gpt2.activation == Activation::gelu_tanh && gpt2.norm_eps == 1e-5 && gpt2.tied_logits));
  const TransformerOptions neo = defaults_of("gpt_neo");
  CHECK((neo.d_model == 2048 && neo.num_layers == 24 && neo.num_heads == 16));
  CHECK((neo.max_length == 2048 && neo.tied_logits && neo.activation == Activation::gelu_tanh));
  CHECK((neo.windows.size() == 24 && neo.windows[0] == 0 && neo.windows[23] == 256));
  CHECK((neo.vocab_size == 50257 && neo.norm_eps == 1e-5 && neo.d_ff == 0));
  const TransformerOptions neox = defaults_of("gpt_neox");
  CHECK((neox.vocab_size == 50432 && neox.d_model == 6144 && neox.num_layers == 44));
  CHECK((neox.num_heads == 64 && neox.d_ff == 24576 && neox.rotary.width == 24));
  CHECK((neox.parallel_residual && !neox.tied_logits && neox.activation == Activation::gelu));
  CHECK((neox.max_length == 2048 && neox.norm_eps == 1e-5));
  const TransformerOptions llama = defaults_of("llama");
  CHECK((llama.vocab_size == 32000 && llama.d_model == 4096 && llama.d_ff == 11008));
  CHECK((llama.num_layers == 32 && llama.num_key_value_heads == 32 && llama.norm_eps == 1e-6));
  CHECK((llama.max_length == 2048 && !llama.tied_logits && !llama.attention_bias));
  const TransformerOptions mistral = defaults_of("mistral");
  CHECK((mistral.vocab_size == 32000 && mistral.d_ff == 14336 && mistral.num_key_value_heads == 8));
  CHECK((mistral.max_length == 131072 && mistral.windows.at(31) == 4096));
  const TransformerOptions qwen2 = defaults_of("qwen2");
  CHECK((qwen2.vocab_size == 151936 && qwen2.d_ff == 22016 && qwen2.num_key_value_heads == 32));
  CHECK((qwen2.max_length == 32768 && qwen2.windows.empty() && qwen2.attention_bias));
  const std::vector<Index> windows =
      model_config(R"({"model_type":"qwen2","use_sliding_window":true})").options.windows;
  CHECK((windows.size() == 32 && windows[27] == 0 && windows[28] == 4096));
  const TransformerOptions bert = defaults_of("bert");
  CHECK((bert.vocab_size == 30522 && bert.max_length == 512 && bert.num_token_types == 2));
  CHECK((bert.d_model == 768 && bert.num_layers == 12 && bert.num_heads == 12));
  CHECK((bert.d_ff == 3072 && bert.norm_eps == 1e-12 && bert.activation == Activation::gelu));
  CHECK((!bert.is_causal && bert.norm_place == NormPlace::post && bert.tied_logits));
}

TEST_CASE("an architecture that is not known is named, with those that are",
          "[phase7][architectures]") {
  CHECK(complaint([] { defaults_of("mamba"); },
                  {"'mamba' is not known", "gpt2 gpt_neo gpt_neox llama mistral qwen2 bert"}) ==
        "");
  CHECK(architecture_names().size() >= 7);
}

TEST_CASE("options that change results and are not supported are refused by name",
          "[phase7][architectures]") {
  const char* const scaling = "no scaling of rotary positions is supported";
  CHECK(said("llama", R"("rope_scaling":{"type":"linear","factor":2})",
             {R"('rope_scaling' is '{"factor":2,"type":"linear"}')", scaling}) == "");
  CHECK(said("llama", R"("rope_scaling":5)", {"'rope_scaling' is '5', but must be an object."}) ==
        "");
  CHECK(said("llama", R"("rope_parameters":{"rope_theta":0})", {"'rope_parameters'", scaling}) ==
        "");
  CHECK(said("llama", R"("rope_scaling":{"rope_type":"llama3","factor":8})",
             {"'rope_scaling'", scaling}) == "");
  CHECK(said("qwen2", R"("rope_parameters":{"rope_type":"yarn","rope_theta":5})",
             {"'rope_parameters'", scaling}) == "");
  CHECK(said("gpt_neox", R"("rope_scaling":{"type":"dynamic","factor":2})", {"'rope_scaling'"}) ==
        "");
  CHECK(said("gpt2", R"("add_cross_attention":true)",
             {"'add_cross_attention' is 'true'", "may change results", "gpt2"}) == "");
  CHECK(said("bert", R"("is_decoder":true)", {"'is_decoder'", "bert"}) == "");
  CHECK(said("bert", R"("position_embedding_type":"relative_key")",
             {"'position_embedding_type' is 'relative_key'", "only 'absolute'"}) == "");
  CHECK(said("bert", R"("pruned_heads":{"0":[1]})", {"'pruned_heads'"}) == "");
  CHECK(said("llama", R"("quantization_config":{"bits":4})", {"'quantization_config'"}) == "");
  CHECK(said("llama", R"("partial_rotary_factor":0.5)", {"'partial_rotary_factor'", "0.5"}) == "");
  CHECK(said("qwen2", R"("layer_types":["full_attention"])", {"'layer_types'", "each layer"}) ==
        "");
  const std::string two = R"("num_hidden_layers":2,"layer_types":["full_attention",)";
  CHECK(said("qwen2", two + R"("sliding_attention"])", {"'layer_types'", "no window"}) == "");
  CHECK(said("qwen2", two + R"("linear_attention"])", {"'layer_types'", "only full"}) == "");
  CHECK(said("llama", R"("rope_parameters":{"partial_rotary_factor":0.5})",
             {"'rope_parameters'", "as a whole"}) == "");
  CHECK(said("llama", R"("hidden_act":"quick_gelu")",
             {"'hidden_act' is 'quick_gelu'", "relu gelu gelu_new", "silu"}) == "");
  CHECK(said("gpt2", R"("embedding_size":5)", {"'embedding_size' is '5'", "remove it"}) == "");
  CHECK(said("gpt2", R"("layer":["ä"])", {R"('layer' is '["\u00e4"]')"}) == "");
}

TEST_CASE("options that change nothing, and those that are off, are passed over",
          "[phase7][architectures]") {
  CHECK(said("gpt2", R"("n_ctx":1024,"attn_pdrop":0.1,"summary_type":"cls_index",
                        "task_specific_params":{"text-generation":{"do_sample":true}},
                        "transformers_version":"4.9","add_cross_attention":false,
                        "is_decoder":null,"bos_token_id":50256,"gradient_checkpointing":false)",
             {}) == "nothing was thrown");
  CHECK(said("bert", R"("pruned_heads":{},"position_embedding_type":"absolute",
                        "is_decoder":false,"classifier_dropout":null,"rope_scaling":null)",
             {}) == "nothing was thrown");
}

TEST_CASE("false is no excuse for an option that is not known", "[phase7][architectures]") {
  CHECK(said("qwen2", R"("is_causal":false)", {"'is_causal' is 'false'", "only 'true'"}) == "");
  CHECK(said("bert", R"("is_causal":true)", {"'is_causal' is 'true'", "only 'false'"}) == "");
  CHECK(said("llama", R"("use_rope":false)",
             {"'use_rope' is 'false'", "not known for llama, and may change results"}) == "");
  CHECK(said("mistral", R"("attention_bias":true)", {"'attention_bias'", "only 'false'"}) == "");
  CHECK(said("qwen2", R"("is_causal":true,"use_mrope":false,"tie_encoder_decoder":false)", {}) ==
        "nothing was thrown");
  CHECK(said("qwen2", R"("use_mrope":true)", {"'use_mrope' is 'true'", "may change"}) == "");
}

// What published models have beside the options that their programs read.
TEST_CASE("notes in configs of published models are passed over", "[phase7][architectures]") {
  const auto passes = [](const std::string& type, const std::string& entry) {
    return said(type, entry, {}) == "nothing was thrown";
  };
  CHECK(passes("gpt2", R"("n_special":0,"predict_special_tokens":true,"pruned_heads":{})"));
  CHECK(passes("gpt2", R"("_num_labels":1,"output_past":true,"xla_device":null)"));
  CHECK(passes("llama", R"("is_llama_config":true,"rope_interleaved":false,
                           "transformers.js_config":{"dtype":{"q4":"x"}})"));
  CHECK(passes("llama", R"("max_sequence_length":2048,"_attn_implementation_autoset":true)"));
  CHECK(passes("llama", R"("unsloth_version":"2024.9","unsloth_fixed":true)"));
  CHECK(passes("gpt_neox", R"("attention_probs_dropout_prob":0,"hidden_dropout_prob":0.1)"));
  CHECK(passes("gpt_neo", R"("attention_dropout":0,"embed_dropout":0.1,"resid_dropout":0.1,
                             "summary_type":"cls_index","summary_use_proj":true)"));
  CHECK(passes("bert", R"("directionality":"bidi","pooler_fc_size":768,"pooler_num_fc_layers":3,
                          "pooler_num_attention_heads":12,"pooler_size_per_head":128,
                          "pooler_type":"first_token_transform")"));
  CHECK(passes("mistral", R"("attention_bias":false,"mlp_bias":false)"));
}

TEST_CASE("two names of one option must say the same", "[phase7][architectures]") {
  CHECK(said("gpt2", R"("n_head":4,"num_attention_heads":8)",
             {"'n_head' is '4', but 'num_attention_heads' is '8'", "names of one option"}) == "");
  CHECK(said("gpt_neo", R"("num_layers":4,"num_hidden_layers":2)",
             {"'num_layers' is '4', but 'num_hidden_layers' is '2'"}) == "");
  CHECK(said("gpt_neox", R"("rotary_pct":0.25,"partial_rotary_factor":0.5)",
             {"'rotary_pct' is '0.25', but 'partial_rotary_factor' is '0.5'"}) == "");
  CHECK(said("gpt_neox", R"("rotary_emb_base":50,"rope_theta":60)",
             {"'rotary_emb_base' is '50', but 'rope_theta' is '60'"}) == "");
  CHECK(said("llama", R"("rope_theta":50,"rope_parameters":{"rope_theta":60})",
             {"'rope_parameters'", "rope_theta is 50 elsewhere"}) == "");
  CHECK(said("stablelm", R"("partial_rotary_factor":0.5,
                            "rope_parameters":{"partial_rotary_factor":0.25})",
             {"'rope_parameters'", "partial_rotary_factor is 0.5 elsewhere"}) == "");
  const TransformerOptions o =
      model_config(R"({"model_type":"gpt_neox","rotary_pct":0.5,"rope_theta":null,
                       "rotary_emb_base":10000,"rope_parameters":{"rope_type":"default",
                       "rope_theta":10000.0,"partial_rotary_factor":0.5}})")
          .options;
  CHECK((o.rotary.width == 48 && o.rotary.base == 1e4));
}

TEST_CASE("values that cannot be are named", "[phase7][architectures]") {
  const char* const whole = "must be a whole number from 1 to 16777216";
  for (const char* value : {"0", "-1", "1.5", "\"12\"", "16777217", "1e3", "[3]", "true"}) {
    CAPTURE(value);
    CHECK(said("gpt2", "\"n_embd\":" + std::string(value), {"'n_embd' is '", whole}) == "");
  }
  CHECK(said("gpt2", R"("n_layer":65537)", {"'n_layer' is '65537'", "1 to 65536"}) == "");
  CHECK(said("gpt2", R"("layer_norm_epsilon":0)", {"'layer_norm_epsilon' is '0'", "above 0"}) ==
        "");
  CHECK(said("llama", R"("rope_theta":-5)", {"'rope_theta'", "above 0"}) == "");
  CHECK(said("llama", R"("rope_theta":"x")", {"'rope_theta' is 'x'", "above 0"}) == "");
  CHECK(said("llama", R"("tie_word_embeddings":1)", {"'tie_word_embeddings'", "true or false"}) ==
        "");
  CHECK(said("llama", R"("hidden_act":3)", {"'hidden_act' is '3'", "must be text"}) == "");
  CHECK(said("llama", R"("num_attention_heads":8192)", {"more heads (8192)", "(4096)"}) == "");
  CHECK(said("gpt_neox", R"("rotary_pct":0.01)", {"'rotary_pct' is '0.01'", "even"}) == "");
  CHECK(said("gpt_neox", R"("rotary_pct":0.27)", {"'rotary_pct'", "of a head of 96"}) == "");
  CHECK(said("gpt_neox", R"("rotary_pct":2)", {"'rotary_pct'"}) == "");
  CHECK(said("gpt2", R"("n_embd":12,"n_head":12)", {}) == "nothing was thrown");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],3]])",
             {"'attention_types'", "must give 24 layers, not 3"}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],99999999999]])", {"must be like"}) == "");
  std::string empty = "[[],65536]";  // which would be read for minutes
  for (int i = 0; i < 200'000; ++i) empty += ",[[],65536]";
  CHECK(said("gpt_neo", "\"attention_types\":[" + empty + "]", {"must be like [[["}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[["around"],24]])", {"\"global\" or \"local\""}) ==
        "");
  CHECK(said("gpt_neo", R"("attention_types":{"a":[["global"],24]})", {"must be like [[["}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[[1],24]])", {"must be like [[["}) == "");
  CHECK(said("gpt_neo", R"("num_layers":65536,"attention_types":[[["global"],65536]])", {}) ==
        "nothing was thrown");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],65537]])", {"must be like [[["}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],65536],[["global"],1]])",
             {"must give 24 layers, not 65537"}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],65536],[["global"],2]])",
             {"must be like [[["}) == "");
  CHECK(said("gpt_neo", R"("attention_types":[[["global"],24]],"attention_layers":["local"])",
             {"'attention_layers'", "says otherwise"}) == "");
}

TEST_CASE("a config.json may have 10 MB", "[phase7][architectures]") {
  const TemporaryFolder folder;
  std::string text = R"({"model_type":"gpt2"})";
  text.resize(10'000'000, ' ');
  write_text(folder / "config.json", text);
  CHECK(read_config(folder / "").architecture == "gpt2");
  write_text(folder / "config.json", text + ' ');
  CHECK(complaint([&] { (void)read_config(folder / ""); },
                  {"config.json: it has more than 10 MB: this is no config.json."}) == "");
}

TEST_CASE("text that is no config is refused on one line", "[phase7][architectures]") {
  const auto parse = [](const std::string& text, std::initializer_list<const char*> words) {
    return complaint([&] { model_config(text); }, words);
  };
  CHECK(parse("", {"not valid JSON near byte"}) == "");
  CHECK(parse("{", {"not valid JSON near byte"}) == "");
  CHECK(parse("[1]", {"not a JSON object"}) == "");
  CHECK(parse("{}", {"no \"model_type\""}) == "");
  CHECK(parse(R"({"model_type":3})", {"no \"model_type\""}) == "");
  CHECK(parse(R"({"model_type":"gpt2","model_type":"bert"})", {"'model_type' stands twice"}) == "");
  CHECK(parse(R"({"model_type":"gpt2","n_embd":1e999})", {"out of range"}) == "");
  CHECK(parse(R"({"model_type":"gpt2","x":)" + std::string(70, '[') + std::string(70, ']') + "}",
              {"nested more than 64 deep"}) == "");
  const auto arrays = [](std::size_t count) {
    return R"({"model_type":"gpt2","x":)" + std::string(count, '[') + std::string(count, ']') + "}";
  };
  CHECK(parse(arrays(64), {"nested"}) != "");
  CHECK(parse(arrays(65), {"nested more than 64 deep"}) == "");
  CHECK(parse(std::string("{\"model_type\":\"gpt2\n\"}"), {"not valid JSON"}) == "");
  CHECK(parse(R"({"model_type":"gpt2","layer":"a\nb"})", {"'layer' is 'a?b'"}) == "");
}
