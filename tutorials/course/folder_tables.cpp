#include "course/folder_tables.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"

namespace tapestry {
namespace {

const std::pair<const char*, const char*> parts[] = {
    {"embed_tokens.weight", "a row for each token; tied: also the map to logits"},
    {"input_layernorm.weight", "gain of the norm before attention"},
    {"q_proj.weight", "queries of all heads, (out, in)"},
    {"k_proj.weight", "keys: fewer heads than queries"},
    {"v_proj.weight", "values"},
    {"o_proj.weight", "output of attention"},
    {"post_attention_layernorm.weight", "gain of the norm before the feed-forward"},
    {"gate_proj.weight", "gate of the feed-forward"},
    {"up_proj.weight", "what the gate multiplies"},
    {"down_proj.weight", "back to the residual stream"},
    {"model.norm.weight", "gain of the last norm"}};

}  // namespace

void print_config(const std::filesystem::path& folder) {
  const TransformerOptions o = read_config(folder).options;
  const std::map<std::string, std::string> meanings = {
      {"model_type", "the table of names and options to use"},
      {"vocab_size", "vocab_size = " + std::to_string(o.vocab_size)},
      {"hidden_size", "d_model = " + std::to_string(o.d_model)},
      {"num_hidden_layers", "num_layers = " + std::to_string(o.num_layers)},
      {"num_attention_heads", "num_heads = " + std::to_string(o.num_heads)},
      {"num_key_value_heads", "num_key_value_heads = " + std::to_string(o.num_key_value_heads)},
      {"head_dim", "d_k = " + std::to_string(o.d_k)},
      {"intermediate_size", "d_ff = " + std::to_string(o.d_ff)},
      {"hidden_act", "activation, and gated = true"},
      {"rms_norm_eps", "norm_eps"},
      {"rope_theta", "rotary.base"},
      {"tie_word_embeddings", "tied_logits"},
      {"max_position_embeddings", "max_length, the longest text in training"}};
  std::ifstream file(folder / "config.json");
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('"'), end = line.find("\": ");
    if (end == std::string::npos) continue;
    const auto found = meanings.find(line.substr(begin + 1, end - begin - 1));
    if (found == meanings.end()) continue;
    std::printf("   %-24s %-9s %s\n", found->first.c_str(),
                line.substr(end + 3, line.find(',') - end - 3).c_str(), found->second.c_str());
  }
}

void print_tensors(const WeightFiles& files) {
  Index numbers = 0;
  for (const auto& [name, shape, dtype, file] : files.entries()) {
    numbers += shape.numel();
    const bool later = name.find("layers.") != name.npos && name.find(".0.") == name.npos;
    for (const auto& [end, part] : parts) {
      if (later || !name.ends_with(end)) continue;
      std::printf("   %-47s %-10s %s\n", name.c_str(), to_string(shape).c_str(), part);
    }
  }
  std::printf("   ... and so for the other layers: %zu tensors, %lld numbers\n",
              files.entries().size(), static_cast<long long>(numbers));
}

}  // namespace tapestry
