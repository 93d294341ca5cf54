// Norms without weights: the same logits from other maps.
#include "tapestry/analysis/folding.hpp"

#include <variant>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/layers.hpp"

using namespace tapestry;

namespace {

Transformer made(TransformerOptions options) {
  options.vocab_size = 11, options.d_model = 8, options.num_heads = 4, options.max_length = 9;
  Random random(4);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.5);
  return model;
}

const TransformerOptions like_gpt2 = {.attention_bias = true, .tied_logits = true};
const TransformerOptions like_neox = {
    .attention_bias = true, .positions = Positions::rotary, .parallel_residual = true};
const TransformerOptions like_llama = {.attention_bias = true,
                                       .num_key_value_heads = 2,
                                       .positions = Positions::rotary,
                                       .norm_kind = NormKind::rms,
                                       .activation = Activation::silu,
                                       .gated = true,
                                       .feed_forward_bias = false,
                                       .tied_logits = true};

std::vector<TransformerOptions> kinds() {
  return {like_gpt2,
          like_neox,
          like_llama,
          {.positions = Positions::sinusoidal, .gated = true, .feed_forward_bias = false},
          {.has_feed_forward = false, .positions = Positions::relative},
          {.is_causal = false,
           .num_token_types = 2,
           .embedding_norm = true,
           .tied_logits = true,
           .logits_bias = true,
           .logits_transform = true},
          {.attention_bias = true, .attention_output_bias = false, .has_logits = false}};
}

const Indices ids({2, 4}, {1, 8, 0, 3, 10, 10, 2, 7});

double difference_of_outputs(const Transformer& a, const Transformer& b) {
  return largest_difference(a(ids), b(ids)) / double{max(abs(a(ids))).item()};
}

bool is_plain(const NormLayer& norm) {
  const bool gains = std::visit(
      [](const auto& one) { return same_bits(one.weight, Tensor::ones(one.weight.shape())); },
      norm.layer);
  const LayerNorm* const layer = std::get_if<LayerNorm>(&norm.layer);
  return gains && (layer == nullptr || same_bits(layer->bias, Tensor::zeros(layer->bias.shape())));
}

bool is_centred(const Tensor& x) { return double{max(abs(mean(x, -1))).item()} < 1e-6; }

}  // namespace

TEST_CASE("a folded model says the same", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = made(kind), other = folded(model);
    CHECK(difference_of_outputs(model, other) <= 1e-5);
    CHECK(difference_of_outputs(model, folded(other)) <= 1e-5);
  }
  const Transformer planted = planted_induction(11, 9);
  CHECK(difference_of_outputs(planted, folded(planted)) <= 1e-5);
}

TEST_CASE("its norms have no weights", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = folded(made(kind));
    for (const TransformerBlock& block : model.blocks) {
      CHECK(is_plain(block.attention_norm));
      if (block.feed_forward_norm) CHECK(is_plain(*block.feed_forward_norm));
    }
    CHECK(is_plain(*model.norm) == kind.has_logits);
    if (model.logits_norm) CHECK(is_plain(*model.logits_norm));
    if (model.embedding_norm) CHECK(!is_plain(*model.embedding_norm));
  }
}

TEST_CASE("what is written is centred for layer norms alone", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = folded(made(kind));
    const bool centred = kind.norm_kind == NormKind::layer;
    std::vector<Tensor> written = {model.token_embedding.weight};
    if (model.position_embedding) written.push_back(model.position_embedding->weight);
    if (model.token_type_embedding) written.push_back(model.token_type_embedding->weight);
    for (const TransformerBlock& block : model.blocks) {
      for (const Tensor& w : {block.attention.output.weight, block.attention.output.bias}) {
        if (w.defined()) written.push_back(w);
      }
      if (block.feed_forward) written.push_back(block.feed_forward->down.weight);
      if (block.feed_forward && kind.feed_forward_bias) {
        written.push_back(block.feed_forward->down.bias);
      }
      CHECK((double{max(abs(mean(block.attention.key.weight, 0))).item()} < 1e-6) == centred);
    }
    for (const Tensor& x : written) CHECK(is_centred(x) == centred);
  }
}

TEST_CASE("its options describe it, and it shares nothing", "[phase7][analysis]") {
  for (const TransformerOptions& kind : kinds()) {
    const Transformer model = made(kind);
    const std::vector<real> before = model(ids).values();
    const Transformer other = folded(model);
    Random random(1);
    const Parameters parts = other.parameters(),
                     anew = Transformer(other.options, random).parameters();
    CHECK(names(parts) == names(anew));
    for (std::size_t i = 0; i < parts.size() && i < anew.size(); ++i) {
      CHECK(parts[i].value.shape() == anew[i].value.shape());
    }
    CHECK(!other.options.tied_logits);
    if (model.sinusoids.defined()) CHECK(other.sinusoids.data() != model.sinusoids.data());
    scatter(parts, random);
    CHECK(model(ids).values() == before);
  }
}

TEST_CASE("a model with norms behind its layers is not folded", "[phase7][analysis]") {
  const Transformer model = made({.norm_place = NormPlace::post});
  CHECK(complaint([&] { (void)folded(model); }, {"folding", "NormPlace::post"}) == "");
}
