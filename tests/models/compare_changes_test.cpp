// Which known mistake explains where a model departs.
#include "catch.hpp"
#include "models/compared.hpp"

using namespace plain;

namespace {

// The changes with which the wrong model agrees with the right one.
std::vector<std::string> causes(const TransformerOptions& right, const TransformerOptions& wrong) {
  const Safetensors expected = activations_of(made(right));
  const Transformer model = made(wrong);
  std::vector<std::string> found;
  if (compare(model, expected).first() == nullptr) return {"agrees"};
  for (const Trial& trial : try_changes(model, expected)) {
    if (trial.result.first() == nullptr) found.push_back(trial.change);
  }
  return found;
}

// The changes that are tried on a model that is right, each of which must change something.
Words changes_of(const TransformerOptions& options) {
  const Transformer model = made(options);
  Words names;
  for (const Trial& trial : try_changes(model, activations_of(model))) {
    CAPTURE(trial.change);
    CHECK(trial.result.worst() > 0);
    names.push_back(trial.change);
  }
  return names;
}

}  // namespace

TEST_CASE("a known mistake is told by its name", "[phase7][architectures]") {
  const std::string two = R"(,"num_hidden_layers":2)";
  const TransformerOptions neox = options_of("gpt_neox", two + R"(,"rotary_pct":0.5)");
  const auto changed = [](TransformerOptions options, auto change) {
    change(options);
    return options;
  };
  const auto neox_with = [&](auto change) { return causes(neox, changed(neox, change)); };
  CHECK(neox_with([](auto&) {}) == Words{"agrees"});
  CHECK(neox_with([](auto& o) { o.rotary.layout = RotaryLayout::interleaved; }) ==
        Words{"rotary layout half-split instead of interleaved"});
  CHECK(neox_with([](auto& o) { o.rotary.width = 8; }) ==
        Words{"rotary width 4 instead of 8 of each head's 8"});
  const TransformerOptions narrow = changed(neox, [](auto& o) {
    o.num_heads = 6;  // of 4 numbers each, of which a quarter is too few to turn
    o.rotary.width = 4;
  });
  CHECK(causes(narrow, changed(narrow, [](auto& o) { o.rotary.width = 2; })) ==
        Words{"rotary width 4 instead of 2 of each head's 4"});
  CHECK(neox_with([](auto& o) { o.rotary.base = 77; }) == Words{"rotary base 10000 instead of 77"});
  CHECK(neox_with([](auto& o) { o.activation = Activation::gelu_tanh; }) ==
        Words{"activation gelu instead of gelu_tanh"});
  CHECK(neox_with([](auto& o) { o.parallel_residual = false; }) ==
        Words{"feed-forward in parallel with attention instead of after it"});
  CHECK(neox_with([](auto& o) { o.scores.scale = 1; }) == Words{"scores scaled by 1 / sqrt(d_k)"});
  CHECK(neox_with([](auto& o) { o.norm_eps = 0.01; }) ==
        Words{"norm epsilon 1e-05 instead of 0.01"});
  CHECK(neox_with([](auto& o) { o.is_causal = false; }) == Words{"a causal mask"});
  const TransformerOptions by_width = changed(neox, [](auto& o) { o.scores.scale = 0.125; });
  CHECK(causes(by_width, neox) == Words{"scores scaled by 1 / d_k"});
  const TransformerOptions bert = options_of("bert", two);
  CHECK(causes(bert, changed(bert, [](auto& o) { o.activation = Activation::relu; })) ==
        Words{"activation gelu instead of relu"});
  const TransformerOptions neo =
      model_config(
          R"({"model_type":"gpt_neo","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
          "num_heads":3,"num_layers":2,"window_size":3})")
          .options;
  const auto neo_with = [&](auto change) { return causes(neo, changed(neo, change)); };
  CHECK(neo_with([](auto& o) { o.windows = {3, 0}; }) == Words{"windows in the other layers"});
  CHECK(neo_with([](auto& o) { o.windows = {0, 4}; }) ==
        Words{"a window of 3 positions instead of 4 (does it count the position itself?)"});
  const auto one = changed(neo, [](auto& o) { o.windows = {0, 1}; });
  CHECK(causes(one, changed(neo, [](auto& o) { o.windows = {0, 2}; })) ==
        Words{"a window of 1 positions instead of 2 (does it count the position itself?)"});
  CHECK(causes(changed(neo, [](auto& o) { o.windows = {0, 2}; }), one) ==
        Words{"a window of 2 positions instead of 1 (does it count the position itself?)"});
  CHECK(causes(changed(neo, [](auto& o) { o.windows = {3, 3}; }), neo) ==
        Words{"a window in all layers"});
  CHECK(neo_with([](auto& o) { o.scores.scale.reset(); }) == Words{"scores not scaled"});
  CHECK(neo_with([](auto& o) { o.scale_by_layer = true; }) == Words{"scores not scaled"});
  CHECK(neo_with([](auto& o) { o.windows = {3, 3}; }) == Words{});
  const TransformerOptions gpt2 =
      model_config(R"({"model_type":"gpt2","vocab_size":11,"n_positions":12,"n_embd":24,"n_head":3,
                       "n_layer":2})")
          .options;
  const auto by_layer = changed(gpt2, [](auto& o) { o.scale_by_layer = true; });
  CHECK(causes(gpt2, by_layer) == Words{"scores scaled by 1 / sqrt(d_k)"});
  CHECK(causes(by_layer, gpt2) == Words{"scores of layer i, counted from 1, divided by i"});
  CHECK(causes(gpt2, changed(gpt2, [](auto& o) { o.windows = {3, 3}; })) == Words{"no window"});
}

TEST_CASE("the changes that are tried are those that apply, and each changes something",
          "[phase7][architectures]") {
  const std::string two = R"(,"num_hidden_layers":2)", head = " of each head's ";
  CHECK(changes_of(options_of("gpt_neox", two + R"(,"rotary_pct":0.5)")) ==
        Words{"rotary layout interleaved instead of half-split",
              "rotary width 8 instead of 4" + head + "8",
              "rotary width 2 instead of 4" + head + "8", "rotary base 100000 instead of 10000",
              "rotary base 500000 instead of 10000", "rotary base 1000000 instead of 10000",
              "no rotary positions", "activation gelu_tanh instead of gelu",
              "activation silu instead of gelu", "activation relu instead of gelu",
              "scores not scaled", "scores scaled by 1 / d_k",
              "scores of layer i, counted from 1, divided by i",
              "norm epsilon 1e-06 instead of 1e-05", "norm epsilon 1e-12 instead of 1e-05",
              "RMS norm instead of layer norm", "norms after adding instead of before",
              "feed-forward after attention instead of in parallel",
              "no causal mask: positions see later ones, too"});
  CHECK(changes_of(options_of("llama", two + R"(,"head_dim":4)")) ==
        Words{"rotary layout interleaved instead of half-split",
              "rotary width 2 instead of 4" + head + "4", "rotary base 100000 instead of 10000",
              "rotary base 500000 instead of 10000", "rotary base 1000000 instead of 10000",
              "no rotary positions", "activation gelu instead of silu",
              "activation gelu_tanh instead of silu", "activation relu instead of silu",
              "scores not scaled", "scores scaled by 1 / d_k",
              "scores of layer i, counted from 1, divided by i",
              "norm epsilon 1e-05 instead of 1e-06", "norm epsilon 1e-12 instead of 1e-06",
              "layer norm instead of RMS norm", "norms after adding instead of before",
              "feed-forward in parallel with attention instead of after it",
              "no causal mask: positions see later ones, too"});
  CHECK(changes_of(options_of("bert", two)) ==
        Words{"activation gelu_tanh instead of gelu", "activation silu instead of gelu",
              "activation relu instead of gelu", "scores not scaled", "scores scaled by 1 / d_k",
              "scores of layer i, counted from 1, divided by i",
              "norm epsilon 1e-05 instead of 1e-12", "norm epsilon 1e-06 instead of 1e-12",
              "RMS norm instead of layer norm", "norms before adding, not after", "a causal mask"});
}

TEST_CASE("widths and windows that are tried follow from those of the model",
          "[phase7][architectures]") {
  const auto last = [](TransformerOptions options, std::size_t count) {
    Words names = changes_of(options);
    names.erase(names.begin(), names.end() - std::ptrdiff_t(std::min(count, names.size())));
    return names;
  };
  TransformerOptions wide = options_of("gpt_neox", R"(,"num_hidden_layers":2,"rotary_pct":1)");
  wide.num_heads = 2;
  wide.rotary.width = 12;
  const Words names = changes_of(wide);
  CHECK(names.at(1) == "rotary width 6 instead of 12 of each head's 12");
  CHECK(names.at(2) == "rotary width 2 instead of 12 of each head's 12");
  CHECK(names.at(3) == "rotary base 100000 instead of 10000");
  TransformerOptions neo = options_of("gpt_neo", R"(,"num_layers":2,"window_size":3)");
  const std::string itself = " (does it count the position itself?)";
  CHECK(last(neo, 6) == Words{"no causal mask: positions see later ones, too", "no window",
                              "a window in all layers", "windows in the other layers",
                              "a window of 4 positions instead of 3" + itself,
                              "a window of 2 positions instead of 3" + itself});
  neo.windows = {2, 2};
  CHECK(last(neo, 4) == Words{"no causal mask: positions see later ones, too", "no window",
                              "a window of 3 positions instead of 2" + itself,
                              "a window of 1 positions instead of 2" + itself});
  neo.windows = {1, 1};  // which see nothing but themselves, however they are scored
  const Transformer model = made(neo);
  const std::vector<Trial> trials = try_changes(model, activations_of(model));
  CHECK(trials.at(trials.size() - 3).change == "no causal mask: positions see later ones, too");
  CHECK(trials.at(trials.size() - 2).change == "no window");
  CHECK(trials.back().change == "a window of 2 positions instead of 1" + itself);
}

TEST_CASE("another kind of norm is told", "[phase7][architectures]") {
  const Transformer model = made(options_of("gpt_neox", R"(,"num_hidden_layers":2)"));
  Transformer other = model;
  const auto to_rms = [](NormLayer& norm) {
    const Tensor gain = std::get<LayerNorm>(norm.layer).weight;
    norm = NormLayer(NormKind::rms, 24);
    std::get<RmsNorm>(norm.layer).weight = gain;
  };
  for (TransformerBlock& block : other.blocks) {
    to_rms(block.attention_norm);
    to_rms(*block.feed_forward_norm);
  }
  to_rms(*other.norm);
  const Safetensors expected = activations_of(other);
  CHECK(compare(model, expected).first()->name == "weights.0");
  Words found;
  for (const Trial& trial : try_changes(model, expected)) {
    if (trial.result.first() == nullptr) found.push_back(trial.change);
  }
  CHECK(found == Words{"RMS norm instead of layer norm"});
}

TEST_CASE("two mistakes at once are found as a pair", "[phase7][architectures]") {
  const TransformerOptions right =
      options_of("llama", R"(,"num_hidden_layers":2,"rope_theta":500000,"rms_norm_eps":1e-5)");
  TransformerOptions wrong = right;
  wrong.rotary.base = 1e4;
  wrong.activation = Activation::gelu;
  CHECK(causes(right, wrong).empty());
  Words pairs;
  const Transformer model = made(wrong);
  const Safetensors expected = activations_of(made(right));
  const std::vector<Trial> trials = try_pairs_of_changes(model, expected);
  const std::size_t changes = try_changes(model, expected).size();
  CHECK(trials.size() == changes * (changes - 1) / 2);
  for (const Trial& trial : trials) {
    if (trial.result.first() == nullptr) pairs.push_back(trial.change);
  }
  CHECK(pairs == Words{"rotary base 500000 instead of 10000; and activation silu instead of gelu"});
}
