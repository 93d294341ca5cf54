#include "models/config.hpp"

#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

constexpr Index most = Index{1} << 24;  // above any size here, so that no product overflows

const std::pair<const char*, Activation> activations[] = {
    {"relu", Activation::relu},          {"gelu", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"silu", Activation::silu},          {"linear", Activation::none},
    {"swish", Activation::silu},         {"gelu_fast", Activation::gelu_tanh}};

// What changes no result: training, tokens that a tokenizer knows, how to generate, and notes.
constexpr const char* harmless_everywhere =
    "_attn_implementation_autoset _commit_hash _name_or_path _num_labels architectures "
    "attention_probs_dropout_prob bad_words_ids begin_suppress_tokens bos_token_id "
    "chunk_size_feed_forward classifier_dropout cls_token_id decoder_start_token_id "
    "diversity_penalty do_sample dtype early_stopping encoder_no_repeat_ngram_size eos_token_id "
    "exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id "
    "gradient_checkpointing hidden_dropout_prob id2label initializer_factor initializer_range "
    "is_llama_config label2id length_penalty mask_token_id max_length max_sequence_length "
    "min_length model_type n_special no_repeat_ngram_size num_beam_groups num_beams num_labels "
    "num_return_sequences output_attentions output_hidden_states output_past output_scores "
    "pad_token_id predict_special_tokens prefix problem_type remove_invalid_values "
    "repetition_penalty return_dict return_dict_in_generate sep_token_id suppress_tokens "
    "task_specific_params temperature tf_legacy_loss tokenizer_class top_k top_p torch_dtype "
    "torchscript transformers.js_config transformers_version typical_p unk_token_id unsloth_fixed "
    "unsloth_version use_bfloat16 use_cache xla_device";

// What no architecture here has: false says what is so anyway.
constexpr const char* harmless_if_false =
    "add_cross_attention is_decoder is_encoder_decoder rope_interleaved tie_encoder_decoder "
    "use_mrope use_sliding_window";

std::set<std::string, std::less<>> words_of(const char* list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string shown(const Json& value) {
  return in_quotes(value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', true));
}

Json object_of(const std::string& text) {
  Json json = parse_json(text);
  if (!json.is_object()) throw Error("it is not a JSON object.");
  return json;
}

}  // namespace

Config::Config(const std::string& text)
    : json_(object_of(text)), known_(words_of(harmless_everywhere)) {}

void Config::refuse(const std::string& name, const std::string& rule) {
  const Json* const value = json_.contains(name) ? &json_.at(name) : nullptr;
  throw Error(in_quotes(name) + (value == nullptr ? "" : " is " + shown(*value)) + ", but " + rule);
}

const Json* Config::find(Names names) {
  const char* found = nullptr;
  for (const char* name : names) {
    known_.insert(name);
    if (!json_.contains(name) || json_.at(name).is_null()) continue;
    if (found != nullptr && json_.at(found) != json_.at(name)) {
      refuse(found,
             in_quotes(name) + " is " + shown(json_.at(name)) + ": both are names of one option.");
    }
    if (found == nullptr) found = name;
  }
  return found == nullptr ? nullptr : &json_.at(found);
}

namespace {

const char* first_of(const Json& json, Config::Names names) {
  for (const char* name : names) {
    if (json.contains(name) && !json.at(name).is_null()) return name;
  }
  return *names.begin();
}

}  // namespace

Index Config::size(Names names, Index otherwise) {
  const Json* const value = find(names);
  if (value == nullptr) return otherwise;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() >= 1 &&
      value->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) {
    return value->get<Index>();
  }
  refuse(first_of(json_, names), "must be a whole number from 1 to " + std::to_string(most) + ".");
}

Index Config::layers(Names names, Index otherwise) {
  constexpr Index most_layers = 65536;
  const Index count = size(names, otherwise);
  if (count <= most_layers) return count;
  refuse(first_of(json_, names), "must be a whole number from 1 to 65536.");
}

double Config::number(Names names, double otherwise) {
  const Json* const value = find(names);
  if (value == nullptr) return otherwise;
  if (value->is_number() && value->get<double>() > 0 && std::isfinite(value->get<double>())) {
    return value->get<double>();
  }
  refuse(first_of(json_, names), "must be a number above 0.");
}

bool Config::flag(Names names, bool otherwise) {
  const Json* const value = find(names);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  refuse(first_of(json_, names), "must be true or false.");
}

std::string Config::word(Names names, const std::string& otherwise) {
  const Json* const value = find(names);
  if (value == nullptr) return otherwise;
  if (value->is_string()) return value->get<std::string>();
  refuse(first_of(json_, names), "must be text.");
}

Activation Config::activation(Names names, const std::string& otherwise) {
  const std::string name = word(names, otherwise);
  std::string rule = "only these activations are known:";
  for (const auto& [known, activation] : activations) {
    if (name == known) return activation;
    rule += " " + std::string(known);
  }
  refuse(first_of(json_, names), rule + ".");
}

void Config::only(const char* name, const Json& value) {
  const Json* const found = find({name});
  if (found == nullptr || *found == value) return;
  refuse(name, "only " + shown(value) + " is supported.");
}

void Config::harmless(Names names) { known_.insert(names.begin(), names.end()); }

std::string Config::model_class() {
  const Json* const list = find({"architectures"});
  const bool given = list != nullptr && list->is_array() && !list->empty();
  return given && list->front().is_string() ? list->front().get<std::string>() : "";
}

void Config::refuse_others(const std::string& architecture) {
  static const auto off = words_of(harmless_if_false);
  for (const auto& [name, value] : json_.items()) {
    if (known_.contains(name) || value.is_null()) continue;
    if (value == false && off.contains(name)) continue;
    refuse(name, "this option is not known for " + architecture +
                     ", and may change results. If it changes none, remove it from config.json.");
  }
}

namespace {

// What "rope_scaling" or "rope_parameters" says, if it scales nothing.
void read_rotary(Config& config, const char* name, std::optional<double>& base,
                 std::optional<double>& share) {
  const Json* const entry = config.find({name});
  if (entry == nullptr) return;
  if (!entry->is_object()) config.refuse(name, "must be an object.");
  for (const auto& [key, value] : entry->items()) {
    if ((key == "type" || key == "rope_type") && value == "default") continue;
    const bool is_base = key == "rope_theta", is_share = key == "partial_rotary_factor";
    if (!(is_base || is_share) || !value.is_number() || value.get<double>() <= 0) {
      config.refuse(name, "no scaling of rotary positions is supported, only \"rope_theta\".");
    }
    std::optional<double>& known = is_base ? base : share;
    if (known && *known != value.get<double>()) {
      config.refuse(name, key + " is " + formatted("%.10g", *known) + " elsewhere.");
    }
    known = value.get<double>();
  }
}

std::optional<double> number_if_there(Config& config, Config::Names names) {
  if (config.find(names) == nullptr) return std::nullopt;
  return config.number(names, {});
}

}  // namespace

RotaryOptions rotary_options(Config& config, Config::Names base_names, const RotaryShare& share) {
  RotaryOptions rotary;
  const bool has_share = share.names.size() > 0;
  std::optional<double> base = number_if_there(config, base_names);
  std::optional<double> given = number_if_there(config, share.names);
  read_rotary(config, "rope_scaling", base, given);
  read_rotary(config, "rope_parameters", base, given);
  rotary.base = base.value_or(rotary.base);
  const double part = given.value_or(share.otherwise);
  if (!has_share && part == 1) return rotary;
  if (has_share && part <= 1) {
    rotary.width = static_cast<Index>(static_cast<double>(share.d_k) * part);
    if (rotary.width != 0 && rotary.width % 2 == 0) return rotary;
  }
  config.refuse(has_share ? *share.names.begin() : "rope_parameters",
                has_share ? "of a head of " + std::to_string(share.d_k) +
                                " it must be an even number, at least 2."
                          : "heads of this architecture are rotated as a whole.");
}

double rotary_share(const RotaryOptions& rotary, Index d_k) {
  const auto whole = static_cast<double>(d_k);
  const auto width = static_cast<double>(rotary.width == 0 ? d_k : rotary.width);
  const bool exact = std::floor(whole * (width / whole)) == width;
  return (exact ? width : width + 0.5) / whole;
}

std::string activation_name(Activation activation) {
  for (const auto& [name, known] : activations) {
    if (known == activation) return name;
  }
  return "linear";
}

}  // namespace tapestry
