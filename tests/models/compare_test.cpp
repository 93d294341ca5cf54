// Where a model departs from given activations, and which known mistake explains it.
#include "tapestry/models/compare.hpp"

#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/models/architecture.hpp"

using namespace plain;

namespace {

Transformer made(const TransformerOptions& options) {
  Random random(5);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.6);
  return model;
}

// The activations of these names, in an order that is not that of computing.
Safetensors activations_of(const Transformer& model, const std::vector<std::string>& more = {}) {
  const Capture seen;
  Safetensors file;
  file.tensors.push_back({"logits", model(ids, {}, {.need_weights = true})});
  for (Index i = 0; i < model.options.num_layers; ++i) {
    const std::string layer = std::to_string(i);
    const Tensor weights = seen["blocks." + layer + ".attention.weights"];
    file.tensors.push_back({"weights." + layer, squeeze(weights, 0)});
  }
  for (const std::string& name : more) file.tensors.push_back({name, seen[name]});
  std::vector<real> numbers(ids.values.begin(), ids.values.end());
  file.tensors.push_back({"ids", Tensor({9}, numbers)});
  return file;
}

TransformerOptions options_of(const std::string& type, const std::string& more) {
  return model_config(R"({"model_type":")" + type +
                      R"(","vocab_size":11,"max_position_embeddings":12,"hidden_size":24,
                          "num_attention_heads":3,"intermediate_size":10)" +
                      more + "}")
      .options;
}

// Of a layer, among keys that have a weight.
double largest_score(const Transformer& model, std::size_t layer) {
  const Capture seen;
  (void)model(ids, {}, {.need_weights = true});
  const std::string name = "blocks." + std::to_string(layer) + ".attention.";
  const Tensor none = Tensor::zeros({});                 // ()
  const Tensor visible = seen[name + "weights"] > none;  // (1, heads, length, length)
  return double{max(where(visible, abs(seen[name + "scores"]), none)).item()};
}

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

using Words = std::vector<std::string>;

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

TEST_CASE("a model agrees with its own activations, to the last bit", "[phase7][architectures]") {
  const TransformerOptions options = options_of("gpt_neox", R"(,"num_hidden_layers":3)");
  const Safetensors expected = activations_of(
      made(options), {"norm", "blocks.1.middle", "embedding", "blocks.2.attention.heads"});
  const Comparison found = compare(made(options), expected);
  CHECK(found.first() == nullptr);
  CHECK(found.worst() == 0);
  CHECK((found.unknown.empty() && found.suspects.empty()));
  Words order;
  for (const Compared& one : found.activations) order.push_back(one.name);
  CHECK(order == Words{"embedding", "weights.0", "weights.1", "blocks.1.middle", "weights.2",
                       "blocks.2.attention.heads", "norm", "logits"});
  CHECK(found.activations[1].recorded == "blocks.0.attention.weights");
  const Compared& logits = found.activations.back();  // the first of equal places is told
  const double first = double{made(options)(ids).at({0, 0})};
  CHECK(logits.place == std::vector<Index>{0, 0});
  CHECK((logits.here == first && logits.there == first));
}

TEST_CASE("token types of a file are given to the model, and weights compared with 1",
          "[phase7][architectures]") {
  const Transformer model =
      made(options_of("bert", R"(,"num_hidden_layers":1,"type_vocab_size":3)"));
  const Indices words({3}, {0, 5, 2}), types({3}, {2, 0, 1});
  Tensor logits, weights;
  {
    const Capture seen;
    logits = model(words, {}, {.need_weights = true, .token_types = &types});
    weights = squeeze(seen["blocks.0.attention.weights"], 0).clone();  // (heads, 3, 3)
  }
  Safetensors file;
  file.tensors = {{"ids", Tensor({3}, {0, 5, 2})},
                  {"token_types", Tensor({3}, {2, 0, 1})},
                  {"logits", logits},
                  {"weights.0", weights}};
  CHECK(compare(model, file).worst() == 0);
  weights.set({1, 2, 0}, double{weights.at({1, 2, 0})} + 0.25);
  const Comparison found = compare(model, file);
  CHECK(found.activations.at(0).difference == Approx(0.25).epsilon(1e-5));
}

TEST_CASE("a difference is a part of the largest number that was expected",
          "[phase7][architectures]") {
  const Transformer model = made(options_of("llama", R"(,"num_hidden_layers":1)"));
  const Tensor logits = model(Indices({3}, {1, 2, 3}));
  const auto difference_from = [&](const Tensor& expected) {
    const Safetensors file{{{"ids", Tensor({3}, {1, 2, 3})}, {"logits", expected}}};
    return compare(model, file).activations.at(0).difference;
  };
  CHECK(difference_from(logits * 1e-3) == Approx(999).epsilon(1e-3));
  const double largest = double{max(abs(logits)).item()};
  CHECK(difference_from(Tensor::zeros(logits.shape())) == Approx(largest * 1e30));
}

TEST_CASE("weights of small scores may differ by the rounding of these",
          "[phase7][architectures]") {
  TransformerOptions options{
      .vocab_size = 11, .max_length = 12, .d_model = 8, .num_heads = 1, .num_layers = 1};
  options.scores.scale = 0.01;
  const Transformer model = made(options);
  double score = 0;
  {
    const Capture seen;
    (void)model(Indices({1}, {4}), {}, {.need_weights = true});
    score = std::abs(double{seen["blocks.0.attention.scores"].item()});
  }
  const Safetensors file{{{"ids", Tensor({1}, {4})}, {"weights.0", Tensor::ones({1, 1, 1})}}};
  const Comparison found = compare(model, file, {.allowed_weights = 0});
  CHECK((score > 0 && score < 1));
  CHECK(found.activations.at(0).allowed == Approx(2 * std::ldexp(score, -23)).epsilon(1e-4));
  CHECK(found.suspects.empty());  // though the model goes on after its weights
}

TEST_CASE("the first that departs is found, with its place and the operations before it",
          "[phase7][architectures]") {
  const TransformerOptions options = options_of("gpt_neox", R"(,"num_hidden_layers":3)");
  Safetensors expected = activations_of(made(options), {"blocks.1.attention.query"});
  const auto change = [&](const char* name, const std::vector<Index>& place, double by) {
    for (Parameter& one : expected.tensors) {
      if (one.name != name) continue;
      one.value = one.value.clone();
      Index at = 0;
      for (std::size_t i = 0; i < place.size(); ++i) {
        at = at * one.value.shape()[static_cast<int>(i)] + place[i];
      }
      one.value.data()[at] += static_cast<real>(by);
    }
  };
  change("logits", {4, 2}, 100);
  change("weights.1", {2, 8, 3}, 0.25);
  change("weights.1", {1, 8, 3}, -0.125);
  const Comparison found = compare(made(options), expected);
  REQUIRE(found.first() != nullptr);
  CHECK(found.first()->name == "weights.1");
  CHECK(found.first()->place == std::vector<Index>{2, 8, 3});
  CHECK(std::abs(found.first()->difference - 0.25) < 1e-6);
  CHECK(std::abs(found.first()->there - found.first()->here - 0.25) < 1e-6);
  CHECK(found.suspects == Words{"blocks.1.attention.key", "blocks.1.attention.value",
                                "blocks.1.attention.scores", "blocks.1.attention.weights"});
  CHECK(found.activations.back().place == std::vector<Index>{4, 2});
  change("weights.0", {0, 0, 0}, NAN);
  CHECK(compare(made(options), expected).first()->name == "weights.0");
  CHECK(compare(made(options), expected).worst() == infinity);
}

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

TEST_CASE("weights of large scores may differ by more: by their rounding",
          "[phase7][architectures]") {
  const TransformerOptions options = options_of("gpt_neox", R"(,"num_hidden_layers":2)");
  const Transformer model = made(options);
  Transformer by_scale = model, by_query = model;
  constexpr real factor = 300;
  for (std::size_t i = 0; i < 2; ++i) {
    by_scale.blocks[i].attention.scores.scale = double{factor} / std::sqrt(8.0);
    Linear& query = by_query.blocks[i].attention.query;
    query.weight = query.weight * factor;
    if (query.bias.defined()) query.bias = query.bias * factor;
  }
  const Safetensors expected = activations_of(by_scale);
  // The same but for rounding, which moves weights by more than 1e-5.
  const Comparison found = compare(by_query, expected);
  CHECK(found.first() == nullptr);
  CHECK(found.worst() < 0.7);
  for (std::size_t i = 0; i < 2; ++i) {
    const double largest = largest_score(by_query, i);
    CHECK(largest > 100);
    CHECK(found.activations[i].allowed ==
          Approx(2 * double(i + 1) * std::ldexp(largest, -23)).epsilon(1e-4));
  }
  CHECK(compare(model, activations_of(model)).activations[0].allowed == 1e-5);
  // A mistake is more than that.
  for (TransformerBlock& block : by_query.blocks) {
    std::visit([](auto& norm) { norm.eps = 1e-3; }, block.attention_norm.layer);
  }
  CHECK(compare(by_query, expected).first() != nullptr);
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

TEST_CASE("activations that cannot be compared are refused", "[phase7][architectures]") {
  const TransformerOptions options = options_of("llama", R"(,"num_hidden_layers":1)");
  const Transformer model = made(options);
  const Tensor numbers({3}, {1, 2, 3});
  const auto said = [&](const Parameters& tensors, std::initializer_list<const char*> words) {
    return complaint([&] { compare(model, {tensors}); }, words);
  };
  CHECK(said({{"logits", numbers}}, {"compare: the file has no \"ids\""}) == "");
  CHECK(said({{"ids", numbers}}, {"nothing to compare", "logits"}) == "");
  CHECK(said({{"ids", numbers}, {"weights.1", numbers}}, {"nothing to compare"}) == "");
  CHECK(said({{"ids", numbers}, {"logits", numbers}},
             {"'logits' is (3) in the file, but (3, 11) in the model"}) == "");
  CHECK(said({{"ids", Tensor({2}, {1, real(1.5)})}}, {"ids must be whole numbers"}) == "");
  CHECK(said({{"ids", Tensor({2}, {1, -1})}}, {"ids must be whole numbers"}) == "");
  CHECK(said({{"ids", Tensor({2}, {1, 11})}}, {"11"}) == "");
  CHECK(said({{"ids", Tensor({2}, {1, 8388608})}}, {"8388608"}) == "");
  CHECK(said({{"ids", Tensor({2}, {1, 16777216})}}, {"ids must be whole numbers"}) == "");
  const Comparison found = compare(model, {{{"ids", numbers},
                                            {"logits", model(Indices({3}, {1, 2, 3}))},
                                            {"weights.7", numbers},
                                            {"hidden", numbers}}});
  CHECK(found.unknown == Words{"weights.7", "hidden"});
  CHECK(found.first() == nullptr);
}
