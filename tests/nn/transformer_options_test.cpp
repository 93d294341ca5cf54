// The options of a transformer as the text of a checkpoint, and back; bad entries are named.
#include <map>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const TransformerOptions unusual = {.vocab_size = 104,
                                    .max_length = 7,
                                    .d_model = 48,
                                    .num_heads = 6,
                                    .num_layers = 5,
                                    .d_ff = 99,
                                    .is_causal = false,
                                    .attention_bias = true,
                                    .positions = Positions::sinusoidal,
                                    .norm_place = NormPlace::post,
                                    .activation = Activation::relu,
                                    .dropout = 0.1};

// What is said when one entry has this text.
std::string said(const std::string& name, const std::string& text,
                 std::initializer_list<const char*> words) {
  std::map<std::string, std::string> metadata = to_metadata(unusual);
  metadata["transformer." + name] = text;
  return complaint([&] { transformer_options(metadata); }, words);
}

}  // namespace

TEST_CASE("options as text are plain words and numbers", "[phase2][nn]") {
  const std::map<std::string, std::string> expected = {{"transformer.vocabulary", "104"},
                                                       {"transformer.length", "7"},
                                                       {"transformer.d_model", "48"},
                                                       {"transformer.heads", "6"},
                                                       {"transformer.layers", "5"},
                                                       {"transformer.d_ff", "99"},
                                                       {"transformer.feed_forward", "true"},
                                                       {"transformer.causal", "false"},
                                                       {"transformer.attention_bias", "true"},
                                                       {"transformer.positions", "sinusoidal"},
                                                       {"transformer.norm", "post"},
                                                       {"transformer.activation", "relu"},
                                                       {"transformer.dropout", "0.1"}};
  CHECK(to_metadata(unusual) == expected);
  const auto word = [](Positions positions) {
    return to_metadata({.positions = positions}).at("transformer.positions");
  };
  CHECK(word(Positions::none) == "none");
  CHECK(word(Positions::rotary) == "rotary");
  CHECK(word(Positions::relative) == "relative");
  CHECK(word(Positions::alibi) == "alibi");
}

TEST_CASE("options come back as they were, every word and the last bit of dropout",
          "[phase2][nn]") {
  const TransformerOptions back = transformer_options(to_metadata(unusual));
  CHECK(back.d_model == 48);
  CHECK(back.positions == Positions::sinusoidal);
  CHECK(back.norm_place == NormPlace::post);
  CHECK(back.dropout == 0.1);
  const auto survives = [](const TransformerOptions& options) {
    const auto text = to_metadata(options);
    return to_metadata(transformer_options(text)) == text;
  };
  CHECK(survives(unusual));
  CHECK(survives({}));
  CHECK(survives({.has_feed_forward = false}));
  CHECK(to_metadata({.has_feed_forward = false}).at("transformer.feed_forward") == "false");
  for (const Positions positions : {Positions::learned, Positions::sinusoidal, Positions::none,
                                    Positions::rotary, Positions::relative, Positions::alibi}) {
    CHECK(survives({.positions = positions}));
    CHECK(transformer_options(to_metadata({.positions = positions})).positions == positions);
  }
  for (const Activation a : {Activation::none, Activation::relu, Activation::gelu,
                             Activation::gelu_tanh, Activation::silu}) {
    CHECK(transformer_options(to_metadata({.activation = a})).activation == a);
  }
  for (const double dropout : {0.0, 1.0 / 3, 1e-300, 0.9999999999999999}) {
    CHECK(transformer_options(to_metadata({.dropout = dropout})).dropout == dropout);
  }
}

TEST_CASE("only options with RMS norm have an entry for it", "[phase2][nn]") {
  const auto rms = to_metadata({.norm_kind = NormKind::rms});
  CHECK(rms.at("transformer.norm_kind") == "rms");
  CHECK(transformer_options(rms).norm_kind == NormKind::rms);
  const auto layer = to_metadata({.norm_kind = NormKind::layer});
  CHECK_FALSE(layer.contains("transformer.norm_kind"));
  CHECK(rms.size() == layer.size() + 1);
  CHECK(transformer_options(layer).norm_kind == NormKind::layer);
  auto told = layer;
  told["transformer.norm_kind"] = "layer";
  CHECK(transformer_options(told).norm_kind == NormKind::layer);
  CHECK(said("norm_kind", "RMS", {"transformer.norm_kind is 'RMS'", "one of layer rms"}) == "");
}

TEST_CASE("only options with a scale or a cap of scores have entries for them", "[phase2][nn]") {
  CHECK_FALSE(to_metadata(unusual).contains("transformer.scale"));
  CHECK_FALSE(to_metadata(unusual).contains("transformer.softcap"));
  CHECK(transformer_options(to_metadata(unusual)).scores.softcap == 0);
  CHECK_FALSE(transformer_options(to_metadata(unusual)).scores.scale.has_value());
  for (const double scale : {-1.0 / 3, 0.0, 1.0, 1e-300}) {
    const auto text = to_metadata({.scores = {.scale = scale, .softcap = 1.0 / 3}});
    CHECK(transformer_options(text).scores.scale == scale);
    CHECK(transformer_options(text).scores.softcap == 1.0 / 3);
  }
  CHECK(to_metadata({.scores = {.softcap = 50}}).at("transformer.softcap") == "50");
  for (const char* text : {"nan", "inf", "-inf", "", "half", "1e999"}) {
    CAPTURE(text);
    CHECK(said("scale", text, {"transformer.scale is '", "a finite number"}) == "");
    CHECK(said("softcap", text, {"transformer.softcap is '", "a finite number from 0 on"}) == "");
  }
  CHECK(said("softcap", "-0.1", {"'-0.1'", "a finite number from 0 on"}) == "");
}

TEST_CASE("options that came later have an entry only if they are not the default",
          "[phase7][nn]") {
  CHECK(to_metadata({}).size() == 13);
  const TransformerOptions llama = {.attention_output_bias = false,
                                    .d_k = 24,
                                    .num_key_value_heads = 2,
                                    .scale_by_layer = true,
                                    .windows = {8, 0, 16},
                                    .positions = Positions::rotary,
                                    .rotary = {1e6, 12, RotaryLayout::interleaved},
                                    .parallel_residual = true,
                                    .norm_eps = 1e-12,
                                    .gated = true,
                                    .feed_forward_bias = false,
                                    .num_token_types = 2,
                                    .embedding_norm = true,
                                    .tied_logits = true,
                                    .logits_bias = true,
                                    .logits_transform = true};
  const std::map<std::string, std::string> later = {{"attention_output_bias", "false"},
                                                    {"d_k", "24"},
                                                    {"key_value_heads", "2"},
                                                    {"scale_by_layer", "true"},
                                                    {"windows", "8 0 16"},
                                                    {"rotary_base", "1e+06"},
                                                    {"rotary_width", "12"},
                                                    {"rotary_layout", "interleaved"},
                                                    {"parallel_residual", "true"},
                                                    {"norm_eps", "1e-12"},
                                                    {"gated", "true"},
                                                    {"feed_forward_bias", "false"},
                                                    {"token_types", "2"},
                                                    {"embedding_norm", "true"},
                                                    {"tied_logits", "true"},
                                                    {"logits_bias", "true"},
                                                    {"logits_transform", "true"}};
  const auto text = to_metadata(llama);
  CHECK(text.size() == 13 + later.size());
  for (const auto& [name, value] : later) CHECK(text.at("transformer." + name) == value);
  CHECK(to_metadata(transformer_options(text)) == text);
  CHECK(transformer_options(text).windows == std::vector<Index>{8, 0, 16});
  CHECK(transformer_options(to_metadata({})).windows.empty());
  auto without = text;
  without["transformer.windows"] = "";
  CHECK(transformer_options(without).windows.empty());
}

TEST_CASE("a file's options of what its model lacks are left out", "[phase7][nn]") {
  auto text = to_metadata({.vocab_size = 3,
                           .max_length = 2,
                           .d_model = 4,
                           .num_heads = 2,
                           .d_ff = 7,
                           .has_feed_forward = false,
                           .rotary = {1e6, 2, RotaryLayout::interleaved},
                           .parallel_residual = true,
                           .activation = Activation::relu,
                           .gated = true,
                           .feed_forward_bias = false,
                           .has_logits = false,
                           .tied_logits = true,
                           .logits_bias = true,
                           .logits_transform = true});
  const TransformerOptions options = transformer_options(text);
  Random random(1);
  CHECK(Transformer(options, random)(Indices({2}, {0, 2})).shape() == Shape{2, 4});
  for (const char* name :
       {"rotary_base", "rotary_width", "rotary_layout", "parallel_residual", "gated",
        "feed_forward_bias", "tied_logits", "logits_bias", "logits_transform"}) {
    CHECK(text.erase("transformer." + std::string(name)) == 1);
  }
  text["transformer.d_ff"] = "0";
  text["transformer.activation"] = "gelu";
  CHECK(to_metadata(options) == text);
}

TEST_CASE("a transformer without feed-forward may have an activation before its logits",
          "[phase7][nn]") {
  const auto text = to_metadata({.vocab_size = 3,
                                 .max_length = 2,
                                 .d_model = 4,
                                 .num_heads = 2,
                                 .has_feed_forward = false,
                                 .activation = Activation::relu,
                                 .logits_transform = true});
  const TransformerOptions options = transformer_options(text);
  CHECK(options.activation == Activation::relu);
  Random random(1);
  const Transformer model(options, random);
  const Tensor x = random.normal({2, 4});
  const Tensor transformed =
      (*model.logits_norm)(relu((*model.logits_transform)((*model.norm)(x))));
  CHECK(largest_difference(model.read_out(x), model.lm_head(transformed)) < 1e-6);
}

TEST_CASE("an option that came later and is none is named", "[phase7][nn]") {
  CHECK(said("windows", "8 x", {"transformer.windows is 'x'", "a whole number"}) == "");
  CHECK(said("windows", "8  4", {"transformer.windows is ''", "a whole number"}) == "");
  CHECK(said("rotary_layout", "both", {"'both'", "one of interleaved half_split"}) == "");
  CHECK(said("norm_eps", "-1", {"norm_eps is '-1'", "from 0 on"}) == "");
  CHECK(said("gated", "yes", {"gated is 'yes'", "one of false true"}) == "");
}

TEST_CASE("entries of others are passed over", "[phase2][nn]") {
  std::map<std::string, std::string> metadata = to_metadata(unusual);
  metadata["format"] = "pt";
  CHECK(transformer_options(metadata).num_heads == 6);
}

TEST_CASE("an entry that is missing is named", "[phase2][nn]") {
  for (const auto& [name, text] : to_metadata(unusual)) {
    std::map<std::string, std::string> metadata = to_metadata(unusual);
    metadata.erase(name);
    CHECK(complaint([&] { transformer_options(metadata); },
                    {"transformer options: there is no entry '", name.c_str(),
                     "written by a Transformer?"}) == "");
  }
}

TEST_CASE("a size that is none is named", "[phase2][nn]") {
  for (const char* name : {"vocabulary", "length", "d_model", "heads", "layers", "d_ff"}) {
    for (const char* text : {"", "many", "-1", "1.5", "12 ", " 12", "+3", "0x10", "1e3", "16777217",
                             "99999999999999999999"}) {
      CAPTURE(name, text);
      const std::string entry = std::string(name) + " is '" + text + "'";
      CHECK(said(name, text, {entry.c_str(), "a whole number from 0 to 16777216"}) == "");
    }
  }
}

TEST_CASE("the largest size is as said", "[phase2][nn]") {
  std::map<std::string, std::string> metadata = to_metadata(unusual);
  metadata["transformer.vocabulary"] = "16777216";
  CHECK(transformer_options(metadata).vocab_size == 16777216);
}

TEST_CASE("a word that is unknown is named, with those that are known", "[phase2][nn]") {
  CHECK(said("positions", "rotating",
             {"transformer.positions is 'rotating'",
              "one of learned sinusoidal none rotary relative alibi"}) == "");
  CHECK(said("norm", "", {"transformer.norm is ''", "one of pre post"}) == "");
  CHECK(said("activation", "GELU", {"'GELU'", "one of none relu gelu gelu_tanh silu"}) == "");
  for (const char* name : {"causal", "feed_forward", "attention_bias"}) {
    CHECK(said(name, "1", {name, "'1'", "one of false true"}) == "");
  }
}

TEST_CASE("a dropout that is none is named", "[phase2][nn]") {
  for (const char* text : {"nan", "inf", "-0.1", "1", "2", "", "0,1", "half", "1e999"}) {
    CAPTURE(text);
    const std::string entry = "transformer.dropout is '" + std::string(text) + "'";
    CHECK(said("dropout", text, {entry.c_str(), "a number in [0, 1)"}) == "");
  }
}

TEST_CASE("a text that is long or has several lines is shown in short, on one", "[phase2][nn]") {
  CHECK(said("norm", std::string(100'000, 'x'), {"xxx...', but must be"}) == "");
  const std::string sixty(60, 'x');
  CHECK(said("norm", sixty, {("is '" + sixty + "', but").c_str()}) == "");
  CHECK(said("norm", sixty + "y", {("is '" + sixty + "...', but").c_str()}) == "");
  const std::string cut = sixty.substr(1) + "\xC3\x9F";  // never inside a character
  CHECK(said("norm", cut + "y", {("is '" + cut + "...', but").c_str()}) == "");
  CHECK(said("norm", "\x7F!\xC2\x9B", {"is '?!?', but"}) == "");
  CHECK(said("heads", " 1 ~", {"heads is ' 1 ~'"}) == "");
  CHECK(said("heads", "1\n2\t3", {"heads is '1?2?3'"}) == "");
}
