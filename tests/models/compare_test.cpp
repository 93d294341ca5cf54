// Where a model departs from given activations.
#include "catch.hpp"
#include "models/compared.hpp"

using namespace plain;

namespace {

// Of a layer, among keys that have a weight.
double largest_score(const Transformer& model, std::size_t layer) {
  const Capture seen;
  (void)model(ids, {}, {.need_weights = true});
  const std::string name = "blocks." + std::to_string(layer) + ".attention.";
  const Tensor none = Tensor::zeros({});                 // ()
  const Tensor visible = seen[name + "weights"] > none;  // (1, heads, length, length)
  return double{max(where(visible, abs(seen[name + "scores"]), none)).item()};
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
    logits = model(words, {}, {.need_weights = true, .token_type_ids = &types});
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
