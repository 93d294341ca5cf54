// The options of a Transformer as text, and back.
#include <charconv>
#include <string_view>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {
namespace {

using Metadata = std::map<std::string, std::string>;
using Names = std::vector<std::string_view>;

const Names positions_names = {"learned", "sinusoidal", "none", "rotary", "relative", "alibi"};
const Names norm_names = {"pre", "post"};
const Names activation_names = {"none", "relu", "gelu"};
const Names bool_names = {"false", "true"};

// Files are not trusted: one short line, whatever the text holds.
[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& rule) {
  std::string shown = text.substr(0, 40);
  for (char& c : shown) c = static_cast<unsigned char>(c) < ' ' ? '?' : c;
  throw Error("transformer options: " + name + " is '" + shown + (text.size() > 40 ? "..." : "") +
              "', but must be " + rule + ".");
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
  const char* const last = text.data() + text.size();
  Number value{};
  const auto [stopped, error] = std::from_chars(text.data(), last, value);
  const bool good = error == std::errc() && stopped == last && value >= low && value < end;
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

}  // namespace

std::map<std::string, std::string> to_metadata(const TransformerOptions& o) {
  return {{"transformer.vocabulary", std::to_string(o.vocab_size)},
          {"transformer.length", std::to_string(o.max_length)},
          {"transformer.d_model", std::to_string(o.d_model)},
          {"transformer.heads", std::to_string(o.num_heads)},
          {"transformer.layers", std::to_string(o.num_layers)},
          {"transformer.d_ff", std::to_string(o.d_ff)},
          {"transformer.feed_forward", name_of(bool_names, o.has_feed_forward)},
          {"transformer.causal", name_of(bool_names, o.is_causal)},
          {"transformer.attention_bias", name_of(bool_names, o.attention_bias)},
          {"transformer.positions", name_of(positions_names, o.positions)},
          {"transformer.norm", name_of(norm_names, o.norm)},
          {"transformer.activation", name_of(activation_names, o.activation)},
          {"transformer.dropout", exact_text(o.dropout)}};
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
  o.norm = choice<Norm>(m, "transformer.norm", norm_names);
  o.activation = choice<Activation>(m, "transformer.activation", activation_names);
  o.dropout = number<double>(m, "transformer.dropout", 0, 1, "a number in [0, 1)");
  return o;
}

}  // namespace tapestry
