#include "tapestry/models/architecture.hpp"

#include <algorithm>
#include <functional>

#include "models/table.hpp"
#include "nn/unused_options.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {

const std::vector<Architecture>& all_architectures() {
  static const std::vector<Architecture> all = {gpt2(),    gpt_neo(), gpt_neox(), llama(),
                                                mistral(), qwen2(),   bert(),     stablelm()};
  return all;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Architecture& one : all_architectures()) names.push_back(one.name);
  return names;
}

const Architecture& architecture(std::string_view name) {
  std::string known;
  for (const Architecture& one : all_architectures()) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : " ") + one.name;
  }
  throw Error("the architecture " + in_quotes(name) + " is not known. Known are: " + known + ".");
}

void add_map(std::vector<StoredName>& names, const std::string& parameter,
             const std::string& tensor, StoredName::Form form, int part) {
  names.push_back({parameter + ".weight", tensor + ".weight", form, part});
  const bool matrix_only = form == StoredName::Form::transposed;
  names.push_back(
      {parameter + ".bias", tensor + ".bias", matrix_only ? StoredName::Form::same : form, part});
}

void add_maps(std::vector<StoredName>& names, const std::string& layer, const MapNames& maps,
              StoredName::Form form) {
  for (const auto& [map, tensor] : maps) {
    add_map(names, std::string("blocks.#.") + map, layer + tensor, form);
  }
}

void add_fused_maps(std::vector<StoredName>& names, const std::string& tensor,
                    StoredName::Form form) {
  int part = 0;
  for (const char* map : {"query", "key", "value"}) {
    add_map(names, std::string("blocks.#.attention.") + map, tensor, form, part++);
  }
}

void add_norm(std::vector<StoredName>& names, const std::string& parameter,
              const std::string& tensor) {
  names.push_back({parameter + ".gain", tensor + ".weight"});
  names.push_back({parameter + ".bias", tensor + ".bias"});
}

ModelConfig model_config(const std::string& json) {
  Config config(json);
  const Json* const type = config.find({"model_type"});
  if (type == nullptr || !type->is_string()) {
    throw Error("it has no \"model_type\", the name of an architecture.");
  }
  const Architecture& table = architecture(type->get<std::string>());
  ModelConfig result{table.name, config.model_class(), table.options(config)};
  if (result.options.d_k == 0 && result.options.num_heads > result.options.d_model) {
    throw Error("there are more heads (" + std::to_string(result.options.num_heads) +
                ") than the width of the model (" + std::to_string(result.options.d_model) + ").");
  }
  config.only("is_causal", result.options.is_causal);
  config.only("pruned_heads", Json::object());
  config.refuse_others(table.name);
  return result;
}

namespace {

void read_json_file(const std::filesystem::path& path,
                    const std::function<void(const std::string&)>& parse) {
  constexpr std::uint64_t longest = 10'000'000;
  read_file("read_model", path, [&](std::ifstream& file, std::uint64_t bytes) {
    if (bytes > longest) throw Error("it has more than 10 MB: this is no config.json.");
    std::string text(static_cast<std::size_t>(bytes), '\0');
    read_bytes(file, text.data(), bytes);
    parse(text);
  });
}

std::vector<std::int32_t> end_ids_in(const std::string& json) {
  constexpr std::uint64_t largest = 2147483647;
  Config config(json);
  const Json* const value = config.find({"eos_token_id"});
  if (value == nullptr) return {};
  std::vector<std::int32_t> ids;
  for (const Json& id : value->is_array() ? *value : Json::array({*value})) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > largest) {
      config.refuse("eos_token_id", "must be an id, a whole number from 0 on, or a list of ids.");
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

}  // namespace

std::vector<std::int32_t> eos_ids(const std::filesystem::path& folder) {
  std::vector<std::int32_t> ids;
  for (const char* name : {"generation_config.json", "config.json"}) {
    std::error_code ignored;
    if (!ids.empty() || !std::filesystem::exists(folder / name, ignored)) continue;
    read_json_file(folder / name, [&](const std::string& text) { ids = end_ids_in(text); });
  }
  return ids;
}

ModelConfig read_config(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw Error("read_model: " + folder.string() +
                " is no folder. A model is a folder with config.json and weights.");
  }
  if (!std::filesystem::exists(folder / "config.json", ignored)) {
    throw Error("read_model: " + folder.string() +
                " has no config.json, which says how the model is built: take it from where the "
                "weights are from.");
  }
  ModelConfig result;
  read_json_file(folder / "config.json",
                 [&](const std::string& text) { result = model_config(text); });
  return result;
}

namespace {

// With all widths given, and nothing that does nothing: models that do the same have equal ones.
TransformerOptions canonical(TransformerOptions o) {
  leave_out_unused(o);
  if (o.d_k == 0) o.d_k = o.d_model / std::max<Index>(o.num_heads, 1);
  if (o.num_key_value_heads == 0) o.num_key_value_heads = o.num_heads;
  if (o.d_ff == 0) o.d_ff = 4 * o.d_model;
  if (!o.attention_output_bias) o.attention_output_bias = o.attention_bias;
  if (std::all_of(o.windows.begin(), o.windows.end(), [](Index one) { return one == 0; })) {
    o.windows.clear();
  }
  if (o.positions == Positions::rotary && o.rotary.width == 0) o.rotary.width = o.d_k;
  o.dropout = {};
  return o;
}

// A bias that a model lacks is one of zeros.
bool is_bias(const std::string& option) { return option.ends_with("_bias"); }

void check_same(const std::string& architecture, const TransformerOptions& wanted,
                const TransformerOptions& written) {
  auto ours = to_metadata(canonical(wanted)), theirs = to_metadata(canonical(written));
  for (auto* one : {&ours, &theirs}) {  // what is not written because it is the default
    for (const auto& [name, text] : one == &ours ? theirs : ours) one->try_emplace(name, "default");
  }
  for (const auto& [name, text] : ours) {
    const bool zeros = is_bias(name) && (text == "false" || theirs.at(name) == "true");
    if (text == theirs.at(name) || zeros) continue;
    throw Error("write_model: " + name.substr(name.find('.') + 1) + " is " + text +
                " in this model, but " + theirs.at(name) + " in those of the architecture " +
                architecture + ".");
  }
}

}  // namespace

std::string config_text(std::string_view name, const TransformerOptions& options) {
  const Architecture& table = architecture(name);
  OrderedJson json;
  json["architectures"] = {options.has_logits ? table.model_class : table.bare_class};
  json["model_type"] = table.name;
  json["torch_dtype"] = sizeof(real) == 4 ? "float32" : "float64";
  table.write_config(options, json);
  const std::string text = json.dump(2) + "\n";
  TransformerOptions back = model_config(text).options;
  back.has_logits = options.has_logits;
  check_same(table.name, options, back);
  return text;
}

}  // namespace tapestry
