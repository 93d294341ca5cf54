#include "tapestry/models/llama2c.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "models/llama2c_tokenizer.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

struct Sizes {
  Index width, hidden, layers, heads, key_value_heads, words, positions;
  bool tied;

  Index head() const { return width / heads; }
};

void refuse_other_kinds(std::uint32_t first, std::uint32_t second) {
  constexpr std::uint32_t later = 0x616b3432, zip = 0x04034b50, ggml = 0x46554747;
  const std::string rule = " Only llama2.c's own version 0 is read.";
  if (first == later) {
    throw Error("it is llama2.c's version " + std::to_string(second) +
                ". Export the model again with --version 0.");
  }
  if (first == zip) throw Error("it is a checkpoint of PyTorch." + rule);
  if (first == ggml) throw Error("it is a GGUF file." + rule);
}

Sizes check(const Sizes& s) {
  const auto fits = [](bool true_for_models, const std::string& what) {
    if (!true_for_models) throw Error("it is no model of llama2.c: " + what + ".");
  };
  const auto is = [](const char* name, Index value) {
    return name + (" " + std::to_string(value));
  };
  for (const Index size :
       {s.width, s.hidden, s.layers, s.heads, s.key_value_heads, s.words, s.positions}) {
    fits(size >= 1, "one of its sizes is " + std::to_string(size));
  }
  fits(s.width % s.heads == 0 && s.head() % 2 == 0,
       is("width", s.width) + is(" and heads", s.heads) + " make no heads of even width");
  fits(s.heads % s.key_value_heads == 0,
       is("key/value heads", s.key_value_heads) + is(" do not divide heads", s.heads));
  return s;
}

Sizes read_sizes(std::ifstream& file, std::uint64_t bytes) {
  std::array<std::int32_t, 7> n{};
  if (bytes < sizeof n) throw Error("it is too short to be a model of llama2.c.");
  read_bytes(file, n.data(), sizeof n);
  refuse_other_kinds(static_cast<std::uint32_t>(n[0]), static_cast<std::uint32_t>(n[1]));
  const Index words = std::abs(Index{n[5]});  // below 0: the logits have a matrix of their own
  return check({n[0], n[1], n[2], n[3], n[4], words, n[6], words == n[5]});
}

// The tensors in the order of the file.
class TensorReader {
 public:
  TensorReader(std::ifstream& file, std::uint64_t bytes) : file_(file), left_(bytes) {}

  Tensor next(const Shape& shape) {
    take(shape.numel());
    const Tensor tensor = Tensor::empty(shape);
    std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
    read_bytes(file_, numbers.data(), numbers.size() * sizeof(float));
    std::copy(numbers.begin(), numbers.end(), raw(tensor));
    return tensor;
  }
  void skip(Index count) {
    take(count);
    file_.seekg(count * Index{sizeof(float)}, std::ios::cur);
  }
  void finish() const {
    if (left_ == 0) return;
    throw Error("it has " + std::to_string(left_) + " bytes more than its sizes say.");
  }

 private:
  void take(Index count) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * sizeof(float);
    if (bytes > left_) throw Error("it has fewer numbers than its sizes say: cut off?");
    left_ -= bytes;
  }

  std::ifstream& file_;
  std::uint64_t left_;
};

// Rows of a map (out, in), turned by rotary positions, for halves of each head.
Tensor for_halves(const Tensor& rows, Index heads) {
  // (in, out) in between, (out, in) at the end
  return transpose(
      convert_rotary(transpose(rows), heads, RotaryLayout::interleaved, RotaryLayout::half_split));
}

Parameters read_tensors(TensorReader& file, const Sizes& s) {
  const Index kv = s.head() * s.key_value_heads;
  // (words, width)
  Parameters all = {{"model.embed_tokens.weight", file.next({s.words, s.width})}};
  const auto of_all_layers = [&](const char* name, const Shape& shape, Index rotary_heads = 0) {
    for (Index i = 0; i < s.layers; ++i) {
      const Tensor stored = file.next(shape);  // (out, in), or (width) of a norm
      all.push_back({"model.layers." + std::to_string(i) + "." + name + ".weight",
                     rotary_heads > 0 ? for_halves(stored, rotary_heads) : stored});
    }
  };
  of_all_layers("input_layernorm", {s.width});
  of_all_layers("self_attn.q_proj", {s.width, s.width}, s.heads);
  of_all_layers("self_attn.k_proj", {kv, s.width}, s.key_value_heads);
  of_all_layers("self_attn.v_proj", {kv, s.width});
  of_all_layers("self_attn.o_proj", {s.width, s.width});
  of_all_layers("post_attention_layernorm", {s.width});
  of_all_layers("mlp.gate_proj", {s.hidden, s.width});
  of_all_layers("mlp.down_proj", {s.width, s.hidden});
  of_all_layers("mlp.up_proj", {s.hidden, s.width});
  all.push_back({"model.norm.weight", file.next({s.width})});  // (width)
  file.skip(s.positions * s.head());  // cosines and sines, which follow from the sizes
  if (!s.tied) all.push_back({"lm_head.weight", file.next({s.words, s.width})});  // (words, width)
  file.finish();
  return all;
}

std::string config_of(const Sizes& s) {
  const Json config = {{"architectures", {"LlamaForCausalLM"}},
                       {"model_type", "llama"},
                       {"hidden_size", s.width},
                       {"intermediate_size", s.hidden},
                       {"num_hidden_layers", s.layers},
                       {"num_attention_heads", s.heads},
                       {"num_key_value_heads", s.key_value_heads},
                       {"vocab_size", s.words},
                       {"max_position_embeddings", s.positions},
                       {"rms_norm_eps", 1e-5},
                       {"rope_theta", 10000.0},
                       {"hidden_act", "silu"},
                       {"tie_word_embeddings", s.tied},
                       {"attention_bias", false},
                       {"bos_token_id", 1},
                       {"eos_token_id", 2},
                       {"torch_dtype", "float32"}};
  return config.dump(2) + "\n";
}

void write_text(const fs::path& path, const std::string& text) {
  write_file_atomically("convert", path, std::as_bytes(std::span(text)));
}

}  // namespace

void convert_llama2c(const fs::path& model, const fs::path& tokenizer, const fs::path& folder) {
  if (has_weight_files(folder) || fs::exists(folder / "config.json")) {
    throw Error(folder.string() + " has a model already: name another folder, or remove it.");
  }
  if (!tokenizer.empty() && fs::exists(folder / "tokenizer.json")) {
    throw Error(folder.string() +
                " has a tokenizer.json already: name another folder, or remove it.");
  }
  Sizes sizes{};
  Parameters tensors;
  read_file("read_llama2c", model, [&](std::ifstream& file, std::uint64_t bytes) {
    sizes = read_sizes(file, bytes);
    TensorReader reader(file, bytes - 7 * sizeof(std::int32_t));
    tensors = read_tensors(reader, sizes);
  });
  const std::string tokens = tokenizer.empty() ? "" : llama2c_tokenizer(tokenizer, sizes.words);
  if (!tokens.empty()) write_text(folder / "tokenizer.json", tokens);
  write_weight_files(folder, tensors);
  write_text(folder / "config.json", config_of(sizes));
}

}  // namespace tapestry
