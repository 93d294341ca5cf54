// Folders that are not as they should be, and those that are in one of several ways.
#include <cstring>

#include "catch.hpp"
#include "memory_limit.hpp"
#include "models/plain.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

const Json config = {{"model_type", "gpt2"}, {"vocab_size", 11}, {"n_positions", 12},
                     {"n_embd", 8},          {"n_layer", 2},     {"n_head", 2}};

Weights gpt2(const std::string& prefix = "") {
  Shapes shapes = {
      {"wte.weight", {11, 8}}, {"wpe.weight", {12, 8}}, {"ln_f.weight", {8}}, {"ln_f.bias", {8}}};
  for (const std::string h : {"h.0.", "h.1."}) {
    for (const char* norm : {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"}) {
      shapes.push_back({h + norm, {8}});
    }
    shapes.insert(shapes.end(), {{h + "attn.c_attn.weight", {8, 24}},
                                 {h + "attn.c_attn.bias", {24}},
                                 {h + "attn.c_proj.weight", {8, 8}},
                                 {h + "attn.c_proj.bias", {8}},
                                 {h + "mlp.c_fc.weight", {8, 32}},
                                 {h + "mlp.c_fc.bias", {32}},
                                 {h + "mlp.c_proj.weight", {32, 8}},
                                 {h + "mlp.c_proj.bias", {8}}});
  }
  Weights weights;
  for (const auto& [name, tensor] : random_weights(shapes)) weights[prefix + name] = tensor;
  return weights;
}

const Json llama_config = {{"model_type", "llama"},    {"vocab_size", 11},
                           {"hidden_size", 8},         {"num_hidden_layers", 1},
                           {"num_attention_heads", 2}, {"intermediate_size", 6},
                           {"rope_theta", 100}};

Weights llama() {
  const std::string l = "model.layers.0.";
  return random_weights({{"model.embed_tokens.weight", {11, 8}},
                         {"model.norm.weight", {8}},
                         {l + "input_layernorm.weight", {8}},
                         {l + "post_attention_layernorm.weight", {8}},
                         {l + "self_attn.q_proj.weight", {8, 8}},
                         {l + "self_attn.k_proj.weight", {8, 8}},
                         {l + "self_attn.v_proj.weight", {8, 8}},
                         {l + "self_attn.o_proj.weight", {8, 8}},
                         {l + "mlp.gate_proj.weight", {6, 8}},
                         {l + "mlp.up_proj.weight", {6, 8}},
                         {l + "mlp.down_proj.weight", {8, 6}},
                         {"lm_head.weight", {11, 8}}});
}

// What read_model says to this folder.
std::string said(const Json& of, const Weights& weights, std::initializer_list<const char*> words) {
  const TemporaryFolder folder;
  write_folder(folder, of, weights);
  const std::string missing = complaint([&] { read_model(folder / ""); }, words);
  return missing.empty() ? complaint([&] { read_model(folder / ""); }, {"read_model: /"}) : missing;
}

Json with(Json changed, const Json& changes) {
  changed.update(changes);
  return changed;
}

}  // namespace

TEST_CASE("names may have the prefix of their architecture, or lack it",
          "[phase7][architectures]") {
  const TemporaryFolder plain, prefixed;
  write_folder(plain, config, gpt2());
  write_folder(prefixed, config, gpt2("transformer."));
  CHECK(same_bits(read_model(plain / "")(ids), read_model(prefixed / "")(ids)));
  Weights mixed = gpt2("transformer.");
  mixed["h.1.ln_1.bias"] = mixed.extract("transformer.h.1.ln_1.bias").mapped();
  CHECK(said(config, mixed, {"no tensor 'transformer.h.1.ln_1.bias'", "(8)"}) == "");
}

TEST_CASE("masks and other buffers are passed over, and named on request",
          "[phase7][architectures]") {
  for (const std::string prefix : {"", "transformer."}) {
    Weights weights = gpt2(prefix);
    for (const std::string h : {"h.0.", "h.1."}) {
      weights[prefix + h + "attn.bias"] = Tensor::ones({1, 1, 12, 12});
      weights[prefix + h + "attn.masked_bias"] = Tensor::full({}, -1e4);
    }
    weights["lm_head.weight"] = weights.at(prefix + "wte.weight");
    const TemporaryFolder folder, bare;
    write_folder(folder, config, weights);
    write_folder(bare, config, gpt2(prefix));
    std::vector<std::string> passed_over;
    CHECK(same_bits(read_model(folder / "", &passed_over)(ids), read_model(bare / "")(ids)));
    std::sort(passed_over.begin(), passed_over.end());
    CHECK(passed_over ==
          std::vector<std::string>{prefix + "h.0.attn.bias", prefix + "h.0.attn.masked_bias",
                                   prefix + "h.1.attn.bias", prefix + "h.1.attn.masked_bias"});
  }
}

TEST_CASE("buffers are checked", "[phase7][architectures]") {
  const auto extra = [](const char* name, const Tensor& tensor) {
    Weights weights = gpt2();
    weights[name] = tensor;
    return weights;
  };
  const char* const not_it = "is not what config.json describes";
  for (const Shape& shape : {Shape{12, 12}, {2, 1, 12, 12}, {1, 2, 12, 12}, {1, 1, 12, 11}}) {
    const std::string found = "tensor 'h.0.attn.bias' " + to_string(shape);
    CHECK(said(config, extra("h.0.attn.bias", Tensor::ones(shape)), {found.c_str(), not_it}) == "");
  }
  CHECK(said(config, extra("h.0.attn.masked_bias", Tensor::ones({2})), {"masked_bias", not_it}) ==
        "");
  CHECK(said(config, extra("h.2.attn.bias", Tensor::ones({1, 1, 12, 12})),
             {"tensor 'h.2.attn.bias' (1, 1, 12, 12) is none"}) == "");
  Weights rotary = llama();
  const std::string name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  rotary[name] = Tensor({2}, {1, real(0.1)});
  const TemporaryFolder folder;
  write_folder(folder, llama_config, rotary);
  CHECK(read_model(folder / "").options.rotary.base == 100);
  CHECK(said(with(llama_config, {{"rope_theta", 200}}), rotary, {"inv_freq' (2)", not_it}) == "");
  rotary[name] = Tensor({2}, {real(0.9), real(0.1)});
  CHECK(said(llama_config, rotary, {"inv_freq' (2)", not_it}) == "");
  rotary[name] = Tensor({3}, {1, real(0.1), 0});
  CHECK(said(llama_config, rotary, {"inv_freq' (3)", not_it}) == "");
}

TEST_CASE("frequencies of rotary positions may be rounded", "[phase7][architectures]") {
  const auto reads = [](double base, double first, double second) {
    Weights weights = llama();
    weights["model.layers.0.self_attn.rotary_emb.inv_freq"] =
        Tensor({2}, {real(first), real(second)});
    const TemporaryFolder folder;
    write_folder(folder, with(llama_config, {{"rope_theta", base}}), weights);
    return complaint([&] { read_model(folder / ""); }, {"inv_freq"}) == "nothing was thrown";
  };
  CHECK(reads(100, 0.993, 0.1));  // by a hundredth
  CHECK_FALSE(reads(100, 0.985, 0.1));
  CHECK(reads(1e16, 1, 0));  // 1e-8, by 1e-7
  CHECK(reads(1e16, 1, 8e-8));
  CHECK_FALSE(reads(1e16, 1, 1.6e-7));
}

TEST_CASE("a tied weight that is stored again must be the same", "[phase7][architectures]") {
  Weights weights = gpt2();
  weights["lm_head.weight"] = weights.at("wte.weight").clone();
  weights["lm_head.weight"].set({10, 7}, 3);
  CHECK(said(config, weights,
             {"tensor 'lm_head.weight' (11, 8) is tied to 'wte.weight'", "not equal",
              "\"tie_word_embeddings\": false"}) == "");
  weights["lm_head.weight"] = Tensor::ones({10, 8});
  CHECK(said(config, weights, {"'lm_head.weight' (10, 8) is tied"}) == "");
  weights.erase("lm_head.weight");
  const Json untied =
      with(config, {{"tie_word_embeddings", false}, {"architectures", {"GPT2LMHeadModel"}}});
  CHECK(said(untied, weights,
             {"no tensor 'lm_head.weight'", "(11, 8)", "\"tie_word_embeddings\": true"}) == "");
}

TEST_CASE("a tied weight may be stored as that of the logits alone", "[phase7][architectures]") {
  const Json tied = with(llama_config, {{"tie_word_embeddings", true}});
  Weights weights = llama();
  const TemporaryFolder both, one;
  weights["lm_head.weight"] = weights.at("model.embed_tokens.weight");
  write_folder(both, tied, weights);
  weights.erase("model.embed_tokens.weight");
  write_folder(one, tied, weights);
  CHECK(same_bits(read_model(one / "")(ids), read_model(both / "")(ids)));
  CHECK(said(llama_config, weights, {"no tensor 'model.embed_tokens.weight'", "(11, 8)"}) == "");
  weights["lm_head.weight"] = Tensor::ones({11, 7});
  CHECK(said(tied, weights, {"'lm_head.weight' is (11, 7), but config.json asks for (11, 8)"}) ==
        "");
}

TEST_CASE("numbers of a type that is not read are refused before memory is taken",
          "[phase7][architectures]") {
  const TemporaryFolder good, folder;
  write_folder(good, config, gpt2());
  const std::size_t all = peak_memory_of([&] { read_model(good / ""); });
  const auto refused = [&](const char* name, const std::vector<Index>& shape) {
    Weights weights = gpt2();
    weights["lm_head.weight"] = weights.at("wte.weight");
    Index count = 1;
    for (const Index size : shape) count *= size;
    weights[name] = Tensor::ones({count / Index{sizeof(real)}});  // of as many bytes
    write_folder(folder, config, weights);
    const std::string bytes = content(folder / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    Json header = Json::parse(bytes.substr(8, length));
    header[name]["dtype"] = "F8_E4M3";
    header[name]["shape"] = shape;
    const std::string text = header.dump();
    const std::uint64_t now = text.size();
    write_text(folder / "model.safetensors",
               std::string(reinterpret_cast<const char*>(&now), 8) + text +
                   bytes.substr(8 + static_cast<std::size_t>(length)));
    std::string problem;
    const std::size_t taken = peak_memory_of([&] {
      problem = complaint([&] { read_model(folder / ""); },
                          {name, "numbers of its dtype, F8_E4M3, are not read"});
    });
    CHECK(taken < all / 2);
    return problem;
  };
  CHECK(refused("ln_f.bias", {8}) == "");
  CHECK(refused("lm_head.weight", {11, 8}) == "");
}

TEST_CASE("a tensor that is missing, surplus or misshapen is named", "[phase7][architectures]") {
  for (const auto& [name, tensor] : gpt2()) {
    Weights weights = gpt2();
    weights.erase(name);
    const std::string shape = to_string(tensor.shape());
    CHECK(said(config, weights, {"no tensor '", name.c_str(), shape.c_str()}) == "");
    weights = gpt2();
    weights[name] = Tensor::ones({3, 2});
    const std::string is = "'" + name + "' is (3, 2), but config.json asks for " + shape;
    CHECK(said(config, weights, {is.c_str()}) == "");
  }
  Weights weights = gpt2();
  weights["h.1.attn.rotary"] = Tensor::ones({5});
  CHECK(said(config, weights, {"'h.1.attn.rotary' (5) is none", "gpt2"}) == "");
  weights = gpt2();
  weights["score.weight"] = Tensor::ones({2, 8});
  CHECK(said(config, weights, {"'score.weight' (2, 8) is none"}) == "");
}

TEST_CASE("a config that disagrees with the weights is refused", "[phase7][architectures]") {
  const Weights weights = gpt2();
  CHECK(said(with(config, {{"n_embd", 16}}), weights,
             {"'wte.weight' is (11, 8), but config.json asks for (11, 16)"}) == "");
  CHECK(said(with(config, {{"n_layer", 3}}), weights, {"no tensor 'h.2.ln_1.weight'"}) == "");
  CHECK(said(with(config, {{"n_layer", 1}}), weights, {"'h.1.", "is none"}) == "");
  CHECK(said(with(config, {{"n_inner", 7}}), weights, {"c_fc.weight' is (8, 32)", "(8, 7)"}) == "");
  CHECK(said(with(config, {{"n_head", 3}}), weights, {"config.json: ", "num_heads is 3"}) == "");
  CHECK(said(with(config, {{"vocab_size", 16777216}}), weights, {"16777216 words", "far more"}) ==
        "");
  CHECK(said(with(config, {{"n_layer", 65536}}), weights, {"65536 layers", "far more"}) == "");
  // 28 tensors and 64 layers more; 1944 numbers times 64, and a million, are 8 times 140552.
  CHECK(said(with(config, {{"n_layer", 93}}), weights, {"93 layers", "far more"}) == "");
  CHECK(said(with(config, {{"n_layer", 92}}), weights, {"no tensor 'h."}) == "");
  CHECK(said(with(config, {{"vocab_size", 140537}}), weights, {"140537 words", "far more"}) == "");
  CHECK(said(with(config, {{"vocab_size", 140536}}), weights, {"asks for (140536, 8)"}) == "");
  for (const Index inner : {1, 65536}) {
    CHECK(said(with(config, {{"n_embd", 65536}, {"n_head", 65536}, {"n_inner", inner}}), weights,
               {"width 65536", "far more"}) == "");
  }
  CHECK(said(with(config, {{"n_embd", 16777216}, {"n_head", 16777216}, {"n_inner", 16777216}}),
             weights, {"width 16777216", "far more"}) == "");
  CHECK(said(with(llama_config, {{"head_dim", 16777216}, {"num_attention_heads", 16777216}}),
             llama(), {"far more"}) == "");
}

TEST_CASE("a folder that lacks a file says which", "[phase7][architectures]") {
  const TemporaryFolder folder;
  const auto opened = [&] { read_model(folder / "model"); };
  CHECK(complaint(opened, {"read_model: ", "/model is no folder"}) == "");
  std::filesystem::create_directory(folder / "model");
  CHECK(complaint(opened, {"has no config.json"}) == "");
  write_text(folder / "model/config.json", config.dump());
  CHECK(complaint(opened, {"no weights", "model.safetensors"}) == "");
  write_text(folder / "model/pytorch_model.bin", "x");
  CHECK(complaint(opened, {"pytorch_model.bin", "Convert it"}) == "");
  write_text(folder / "model/config.json", "{}");
  CHECK(complaint(opened, {"read_model: ", "config.json: it has no \"model_type\""}) == "");
}

TEST_CASE("a model that does not fit into memory is refused before any is taken",
          "[phase7][architectures]") {
  const Index width = 1024, words = 73'000, bytes_each = 2;  // 150 MB, in memory twice that
  Json header;
  Index end = 0;
  const auto add = [&](const std::string& name, const std::vector<Index>& shape) {
    const Index begin = end;
    end += Shape(std::span<const Index>(shape)).numel() * bytes_each;
    header[name] = {{"dtype", "F16"}, {"shape", shape}, {"data_offsets", {begin, end}}};
  };
  const std::string l = "model.layers.0.";
  add("model.embed_tokens.weight", {words, width});
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
    add(l + norm + ".weight", {width});
  }
  for (const char* map : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    add(l + "self_attn." + map + ".weight", {width, width});
  }
  for (const char* map : {"gate_proj", "up_proj"}) add(l + "mlp." + map + ".weight", {6, width});
  add(l + "mlp.down_proj.weight", {width, 6});
  add("model.norm.weight", {width});
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << with(
      llama_config, {{"vocab_size", words}, {"hidden_size", width}, {"tie_word_embeddings", true}});
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length) << text;
  file.close();
  // A file with a hole: it takes no room on a disk.
  std::filesystem::resize_file(folder / "model.safetensors",
                               sizeof length + length + static_cast<std::uint64_t>(end));
  std::string refusal;
  const MemoryLimit limit(300'000'000);
  const std::size_t taken = peak_memory_of([&] {
    try {
      read_model(folder / "");
    } catch (const Error& error) {
      refusal = error.what();
    }
  });
  CAPTURE(refusal);
  const std::string wanted = in_double ? "0.63" : "0.32", but = " GB of memory, but ";
  CHECK(missing_word(refusal, {("its 78967808 numbers take " + wanted + but).c_str(),
                               " GB are free", "smaller model"}) == "");
  const double free = std::stod(refusal.substr(refusal.find(but) + but.size()));
  CHECK((free > 0.05 && free < 0.2));  // of 0.3 the mapped file takes 0.16, a slab 0.03
  CHECK(taken < 1'000'000);
}
