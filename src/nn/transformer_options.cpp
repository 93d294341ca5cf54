// The options of a Transformer as text, and back.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {
namespace {

using Metadata = std::map<std::string, std::string>;
using Names = std::vector<std::string_view>;

const Names positions_names = {"learned", "sinusoidal", "none"};
const Names norm_names = {"pre", "post"};
const Names activation_names = {"none", "relu", "gelu"};
const Names bool_names = {"false", "true"};

[[noreturn]] void refuse(const std::string& name, const std::string& text, const char* rule) {
  throw Error("transformer options: " + name + " is '" + text + "', but must be " + rule + ".");
}

const std::string& entry(const Metadata& metadata, const std::string& name) {
  const auto found = metadata.find(name);
  if (found != metadata.end()) return found->second;
  throw Error("transformer options: there is no entry '" + name +
              "'. Was this file written by a Transformer?");
}

template <class Number>
Number number(const Metadata& metadata, const std::string& name, const char* rule) {
  const std::string& text = entry(metadata, name);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(name, text, rule);
  return value;
}

Index size(const Metadata& metadata, const std::string& name) {
  const Index value = number<Index>(metadata, name, "a whole number");
  constexpr Index most = Index{1} << 24;  // of any model here, so that no product overflows
  if (value < 0 || value > most) refuse(name, std::to_string(value), "between 0 and 16777216");
  return value;
}

template <class Choice>
Choice choice(const Metadata& metadata, const std::string& name, const Names& names) {
  const std::string& text = entry(metadata, name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Choice>(i);
  }
  std::string rule = "one of";
  for (const std::string_view one : names) rule += " " + std::string(one);
  refuse(name, text, rule.c_str());
}

template <class Choice>
std::string name_of(const Names& names, Choice choice) {
  return std::string(names[static_cast<std::size_t>(choice)]);
}

std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::map<std::string, std::string> to_metadata(const TransformerOptions& o) {
  return {{"transformer.vocabulary", std::to_string(o.vocabulary)},
          {"transformer.length", std::to_string(o.length)},
          {"transformer.d_model", std::to_string(o.d_model)},
          {"transformer.heads", std::to_string(o.heads)},
          {"transformer.layers", std::to_string(o.layers)},
          {"transformer.d_ff", std::to_string(o.d_ff)},
          {"transformer.feed_forward", name_of(bool_names, o.has_feed_forward)},
          {"transformer.causal", name_of(bool_names, o.causal)},
          {"transformer.attention_bias", name_of(bool_names, o.attention_bias)},
          {"transformer.positions", name_of(positions_names, o.positions)},
          {"transformer.norm", name_of(norm_names, o.norm)},
          {"transformer.activation", name_of(activation_names, o.activation)},
          {"transformer.dropout", exact(o.dropout)}};
}

TransformerOptions transformer_options(const Metadata& m) {
  TransformerOptions o;
  o.vocabulary = size(m, "transformer.vocabulary");
  o.length = size(m, "transformer.length");
  o.d_model = size(m, "transformer.d_model");
  o.heads = size(m, "transformer.heads");
  o.layers = size(m, "transformer.layers");
  o.d_ff = size(m, "transformer.d_ff");
  o.has_feed_forward = choice<bool>(m, "transformer.feed_forward", bool_names);
  o.causal = choice<bool>(m, "transformer.causal", bool_names);
  o.attention_bias = choice<bool>(m, "transformer.attention_bias", bool_names);
  o.positions = choice<Positions>(m, "transformer.positions", positions_names);
  o.norm = choice<Norm>(m, "transformer.norm", norm_names);
  o.activation = choice<Activation>(m, "transformer.activation", activation_names);
  o.dropout = number<double>(m, "transformer.dropout", "a number");
  return o;
}

}  // namespace tapestry
