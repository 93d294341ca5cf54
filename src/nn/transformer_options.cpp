// The options of a Transformer as text, and back.
#include <algorithm>
#include <limits>
#include <string_view>

#include "nn/unused_options.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

using Metadata = std::map<std::string, std::string>;
using Names = std::vector<std::string_view>;

const Names positions_names = {"learned", "sinusoidal", "none", "rotary", "relative", "alibi"};
const Names norm_place_names = {"pre", "post"};
const Names norm_kind_names = {"layer", "rms"};
const Names activation_names = {"none", "relu", "gelu", "gelu_tanh", "silu"};
const Names layout_names = {"interleaved", "half_split"};
const Names bool_names = {"false", "true"};
constexpr double infinity = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& rule) {
  throw Error("transformer options: " + name + " is " + in_quotes(text) + ", but must be " + rule +
              ".");
}

const std::string& entry(const Metadata& metadata, const std::string& name) {
  const auto found = metadata.find(name);
  if (found != metadata.end()) return found->second;
  throw Error("transformer options: there is no entry '" + name +
              "'. Was this file written by a Transformer?");
}

// A number from `low` to below `end`.
template <class Number>
Number number(const Metadata& metadata, const std::string& name, Number low, Number end,
              const char* rule) {
  const std::string& text = entry(metadata, name);
  Number value{};
  const bool good = read_number(text, value) && value >= low && value < end;
  if (!good) refuse(name, text, rule);
  return value;
}

Index size(const Metadata& metadata, const std::string& name) {
  constexpr Index most = Index{1} << 24;  // above any model here, so that no product overflows
  return number<Index>(metadata, name, 0, most + 1, "a whole number from 0 to 16777216");
}

template <class Choice>
Choice choice(const Metadata& metadata, const std::string& name, const Names& names) {
  const std::string& text = entry(metadata, name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Choice>(i);
  }
  std::string rule = "one of";
  for (const std::string_view one : names) rule += " " + std::string(one);
  refuse(name, text, rule);
}

template <class Choice>
std::string name_of(const Names& names, Choice choice) {
  return std::string(names[static_cast<std::size_t>(choice)]);
}

// ---- options that came later: they are written only if they are not the default, and are the
// default where they are missing, so that files written before still open

// Calls visit(name, access) for each; access(options) is the option.
template <class Visit>
void each_later_option(Visit visit) {
  visit("norm_kind", [](auto& o) -> auto& { return o.norm_kind; });
  visit("scale", [](auto& o) -> auto& { return o.scores.scale; });
  visit("softcap", [](auto& o) -> auto& { return o.scores.softcap; });
  visit("attention_output_bias", [](auto& o) -> auto& { return o.attention_output_bias; });
  visit("d_k", [](auto& o) -> auto& { return o.d_k; });
  visit("key_value_heads", [](auto& o) -> auto& { return o.num_key_value_heads; });
  visit("scale_by_layer", [](auto& o) -> auto& { return o.scale_by_layer; });
  visit("windows", [](auto& o) -> auto& { return o.windows; });
  visit("rotary_base", [](auto& o) -> auto& { return o.rotary.base; });
  visit("rotary_width", [](auto& o) -> auto& { return o.rotary.width; });
  visit("rotary_layout", [](auto& o) -> auto& { return o.rotary.layout; });
  visit("parallel_residual", [](auto& o) -> auto& { return o.parallel_residual; });
  visit("norm_eps", [](auto& o) -> auto& { return o.norm_eps; });
  visit("gated", [](auto& o) -> auto& { return o.gated; });
  visit("feed_forward_bias", [](auto& o) -> auto& { return o.feed_forward_bias; });
  visit("token_types", [](auto& o) -> auto& { return o.num_token_types; });
  visit("embedding_norm", [](auto& o) -> auto& { return o.embedding_norm; });
  visit("logits", [](auto& o) -> auto& { return o.has_logits; });
  visit("tied_logits", [](auto& o) -> auto& { return o.tied_logits; });
  visit("logits_bias", [](auto& o) -> auto& { return o.logits_bias; });
  visit("logits_transform", [](auto& o) -> auto& { return o.logits_transform; });
}

std::string text(Index size) { return std::to_string(size); }
std::string text(double number) { return exact_text(number); }
std::string text(const std::optional<double>& number) { return exact_text(*number); }
std::string text(bool choice) { return name_of(bool_names, choice); }
std::string text(const std::optional<bool>& choice) { return name_of(bool_names, *choice); }
std::string text(NormKind kind) { return name_of(norm_kind_names, kind); }
std::string text(RotaryLayout layout) { return name_of(layout_names, layout); }
std::string text(const std::vector<Index>& sizes) {
  std::string list;
  for (const Index size : sizes) list += (list.empty() ? "" : " ") + std::to_string(size);
  return list;
}

void read(const Metadata& m, const std::string& name, Index& option) { option = size(m, name); }
void read(const Metadata& m, const std::string& name, double& option) {
  option = number<double>(m, name, 0, infinity, "a finite number from 0 on");
}
void read(const Metadata& m, const std::string& name, std::optional<double>& option) {
  option =
      number<double>(m, name, std::numeric_limits<double>::lowest(), infinity, "a finite number");
}
void read(const Metadata& m, const std::string& name, bool& option) {
  option = choice<bool>(m, name, bool_names);
}
void read(const Metadata& m, const std::string& name, std::optional<bool>& option) {
  option = choice<bool>(m, name, bool_names);
}
void read(const Metadata& m, const std::string& name, NormKind& option) {
  option = choice<NormKind>(m, name, norm_kind_names);
}
void read(const Metadata& m, const std::string& name, RotaryLayout& option) {
  option = choice<RotaryLayout>(m, name, layout_names);
}
void read(const Metadata& m, const std::string& name, std::vector<Index>& option) {
  const std::string& list = entry(m, name);
  for (std::size_t at = 0; at < list.size(); ++at) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    option.push_back(size({{name, list.substr(at, end - at)}}, name));
    at = end;
  }
}

}  // namespace

std::map<std::string, std::string> to_metadata(const TransformerOptions& o) {
  Metadata metadata = {{"transformer.vocabulary", std::to_string(o.vocab_size)},
                       {"transformer.length", std::to_string(o.max_length)},
                       {"transformer.d_model", std::to_string(o.d_model)},
                       {"transformer.heads", std::to_string(o.num_heads)},
                       {"transformer.layers", std::to_string(o.num_layers)},
                       {"transformer.d_ff", std::to_string(o.d_ff)},
                       {"transformer.feed_forward", name_of(bool_names, o.has_feed_forward)},
                       {"transformer.causal", name_of(bool_names, o.is_causal)},
                       {"transformer.attention_bias", name_of(bool_names, o.attention_bias)},
                       {"transformer.positions", name_of(positions_names, o.positions)},
                       {"transformer.norm", name_of(norm_place_names, o.norm_place)},
                       {"transformer.activation", name_of(activation_names, o.activation)},
                       {"transformer.dropout", exact_text(o.dropout)}};
  const TransformerOptions defaults;
  each_later_option([&](const char* name, auto access) {
    if (access(o) != access(defaults)) {
      metadata["transformer." + std::string(name)] = text(access(o));
    }
  });
  return metadata;
}

TransformerOptions transformer_options(const Metadata& m) {
  TransformerOptions o;
  o.vocab_size = size(m, "transformer.vocabulary");
  o.max_length = size(m, "transformer.length");
  o.d_model = size(m, "transformer.d_model");
  o.num_heads = size(m, "transformer.heads");
  o.num_layers = size(m, "transformer.layers");
  o.d_ff = size(m, "transformer.d_ff");
  o.has_feed_forward = choice<bool>(m, "transformer.feed_forward", bool_names);
  o.is_causal = choice<bool>(m, "transformer.causal", bool_names);
  o.attention_bias = choice<bool>(m, "transformer.attention_bias", bool_names);
  o.positions = choice<Positions>(m, "transformer.positions", positions_names);
  o.norm_place = choice<NormPlace>(m, "transformer.norm", norm_place_names);
  o.activation = choice<Activation>(m, "transformer.activation", activation_names);
  o.dropout = number<double>(m, "transformer.dropout", 0, 1, "a number in [0, 1)");
  each_later_option([&](const char* name, auto access) {
    const std::string full = "transformer." + std::string(name);
    if (m.contains(full)) read(m, full, access(o));
  });
  leave_out_unused(o);
  return o;
}

void leave_out_unused(TransformerOptions& o) {
  if (!o.has_feed_forward) {
    o.d_ff = 0;
    o.gated = o.parallel_residual = false;
    o.feed_forward_bias = true;
  }
  if (!o.has_logits) o.tied_logits = o.logits_bias = o.logits_transform = false;
  if (!o.has_feed_forward && !o.logits_transform) o.activation = TransformerOptions().activation;
  if (o.positions != Positions::rotary) o.rotary = {};
}

}  // namespace tapestry
