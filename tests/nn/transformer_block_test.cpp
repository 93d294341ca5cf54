#include "tapestry/nn/transformer_block.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

TransformerBlock scattered(const TransformerBlockOptions& options) {
  Random random(6);
  TransformerBlock block(4, 2, random, options);
  scatter(block.parameters(), random);
  return block;
}

// (x - mean) / sqrt(variance + epsilon) * gain + bias, or x / sqrt(mean square + epsilon) * gain
Tensor normed(const NormLayer& norm, const Tensor& x) {
  if (const auto* rms = std::get_if<RmsNorm>(&norm.layer)) {
    return x / sqrt(mean(x * x, -1, true) + rms->eps) * rms->weight;
  }
  const LayerNorm& layer = std::get<LayerNorm>(norm.layer);
  const Tensor centred = x - mean(x, -1, true);
  return centred / sqrt(var(x, -1, true) + layer.eps) * layer.weight + layer.bias;
}

constexpr NormKind both_kinds[] = {NormKind::layer, NormKind::rms};

void clear(const Linear& map) {
  for (const Parameter& parameter : map.parameters()) {
    std::fill_n(parameter.value.data(), parameter.value.numel(), real{0});
  }
}

}  // namespace

TEST_CASE("a pre-norm block adds what layers make of the normalised sum", "[phase2][nn]") {
  for (const NormKind kind : both_kinds) {
    const TransformerBlock block =
        scattered({.attention = {.bias = true, .is_causal = true}, .norm_kind = kind});
    const Tensor x = random_tensor({2, 5, 4});
    const Mask mask = Mask::padding({5, 3});
    const Tensor middle = x + block.attention(normed(block.attention_norm, x), mask);
    const Tensor y = middle + (*block.feed_forward)(normed(*block.feed_forward_norm, middle));
    CHECK(difference_to(block(x, mask), y, nearly) == "");
  }
}

TEST_CASE("a post-norm block normalises the sums", "[phase2][nn]") {
  for (const NormKind kind : both_kinds) {
    const TransformerBlock block = scattered({.attention = {.bias = true},
                                              .norm_place = NormPlace::post,
                                              .norm_kind = kind,
                                              .norm_eps = 0.1});
    for (const NormLayer* norm : {&block.attention_norm, &*block.feed_forward_norm}) {
      CHECK((norm->layer.index() == 1) == (kind == NormKind::rms));
      CHECK(std::visit([](const auto& layer) { return layer.eps; }, norm->layer) == 0.1);
    }
    const Tensor x = random_tensor({2, 5, 4});
    const Tensor middle = normed(block.attention_norm, x + block.attention(x));
    const Tensor y = normed(*block.feed_forward_norm, middle + (*block.feed_forward)(middle));
    CHECK(difference_to(block(x), y, nearly) == "");
  }
}

TEST_CASE("a block of attention only", "[phase2][nn]") {
  const Tensor x = random_tensor({3, 4});
  const TransformerBlock pre = scattered({.has_feed_forward = false});
  CHECK_FALSE(pre.feed_forward.has_value());
  CHECK_FALSE(pre.feed_forward_norm.has_value());
  CHECK(difference_to(pre(x), x + pre.attention(normed(pre.attention_norm, x)), nearly) == "");
  const TransformerBlock post =
      scattered({.has_feed_forward = false, .norm_place = NormPlace::post});
  CHECK(difference_to(post(x), normed(post.attention_norm, x + post.attention(x)), nearly) == "");
}

TEST_CASE("when its layers add nothing, a pre-norm block hands its input on", "[phase2][nn]") {
  const TransformerBlock block = scattered({});
  clear(block.attention.output);
  clear(block.feed_forward->down);
  const Tensor x = random_tensor({2, 3, 4});
  CHECK(same_bits(block(x), x));
}

TEST_CASE("a block keeps the shape of its input", "[phase2][nn]") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    const TransformerBlock block = scattered({.norm_place = place});
    for (const Shape& shape : {Shape{1, 4}, Shape{0, 4}, Shape{2, 7, 4}, Shape{2, 3, 5, 4}}) {
      CHECK(block(random_tensor(shape)).shape() == shape);
    }
  }
}

TEST_CASE("a block drops what attention adds, and rescales the rest", "[phase2][nn]") {
  const TransformerBlock block = scattered({.has_feed_forward = false, .dropout = 0.5});
  const Tensor x = random_tensor({4, 25, 4});
  Random random(2), same(2);
  const Tensor y = block(x, {}, {.random = &random});
  const std::vector<double> added = doubles(block(x) - x), got = doubles(y - x);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool gone = got[i] == 0;
    dropped += gone;
    CHECK((gone || same_number(got[i], 2 * added[i], nearly)));
  }
  CHECK(dropped > 150);  // of 400
  CHECK(dropped < 250);
  CHECK(same_bits(block(x, {}, {.random = &same}), y));
  CHECK_FALSE(same_bits(block(x, {}, {.random = &same}), y));
}

TEST_CASE("a block drops what feed-forward adds, and weights if attention is told to",
          "[phase2][nn]") {
  const Tensor x = random_tensor({5, 4});
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    const TransformerBlock thinks = scattered({.norm_place = place, .dropout = 0.5});
    clear(thinks.attention.output);
    Random random(2);
    CHECK_FALSE(same_bits(thinks(x, {}, {.random = &random}), thinks(x)));
    const TransformerBlock looks = scattered({.attention = {.dropout = 0.5}, .norm_place = place});
    CHECK_FALSE(same_bits(looks(x, {}, {.random = &random}), looks(x)));
    const TransformerBlock never = scattered({.norm_place = place});
    CHECK(same_bits(never(x, {}, {.random = &random}), never(x)));
  }
}

TEST_CASE("the gradients of a block are right, of every kind", "[phase2][nn]") {
  for (const NormKind kind : both_kinds) {
    for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
      for (const bool has_feed_forward : {true, false}) {
        CAPTURE(static_cast<int>(kind), static_cast<int>(place), has_feed_forward);
        const TransformerBlock block = scattered({.attention = {.bias = true, .is_causal = true},
                                                  .has_feed_forward = has_feed_forward,
                                                  .norm_place = place,
                                                  .norm_kind = kind});
        Parameters all = block.parameters();
        const Tensor x = random_tensor({2, 3, 4});
        all.push_back({"x", x});
        GradcheckOptions fine;  // a row of small numbers bends RMS norm sharply: short steps
        fine.eps = in_double ? 1e-3 : 4e-3;
        CHECK(wrong_gradient_of(all, [&] { return block(x); }, fine) == "");
      }
    }
  }
}

TEST_CASE("the gradients of a block with dropout are right", "[phase2][nn]") {
  const TransformerBlock block = scattered({.attention = {.dropout = 0.3}, .dropout = 0.3});
  const Tensor x = random_tensor({2, 3, 4});
  const auto f = [&] {
    Random random(8);  // the same numbers are dropped each time
    return block(x, {}, {.random = &random});
  };
  CHECK(wrong_gradient_of(block.parameters(), f) == "");
}

TEST_CASE("a block files its sums, and names its parameters in the order of use", "[phase2][nn]") {
  const TransformerBlock block = scattered({});
  const Tensor x = random_tensor({2, 3, 4});
  const Capture seen;
  const Tensor y = block(x);
  CHECK(seen["output"].buffer() == y.buffer());
  CHECK(same_bits(seen["middle"], x + seen["attention.output"]));
  CHECK(names(block.parameters("b.")) ==
        std::vector<std::string>{
            "b.attention_norm.gain", "b.attention_norm.bias", "b.attention.query.weight",
            "b.attention.key.weight", "b.attention.value.weight", "b.attention.output.weight",
            "b.feed_forward_norm.gain", "b.feed_forward_norm.bias", "b.feed_forward.up.weight",
            "b.feed_forward.up.bias", "b.feed_forward.down.weight", "b.feed_forward.down.bias"});
  CHECK(scattered({.has_feed_forward = false}).parameters().size() == 6);
  const Parameters rms = scattered({.norm_kind = NormKind::rms}).parameters();
  CHECK(rms.size() == 10);  // without the two biases
  CHECK((rms[0].name == "attention_norm.gain" && rms[5].name == "feed_forward_norm.gain"));
}

TEST_CASE("a block says what does not fit", "[phase2][nn]") {
  for (const double p : {1.0, -0.5, double(NAN)}) {
    CHECK(complaint([=] { scattered({.dropout = p}); },
                    {"transformer block: dropout is ", "[0, 1)"}) == "");
  }
  CHECK(complaint([] { scattered({.norm_eps = 0}); }, {"layer norm", "eps"}) == "");
  CHECK(complaint([] { scattered({.norm_kind = NormKind::rms, .norm_eps = 0}); },
                  {"RMS norm", "eps"}) == "");
  const auto only_attention = [](TransformerBlockOptions options, const char* word) {
    options.has_feed_forward = false;
    return complaint([&] { scattered(options); }, {"transformer block: there is no feed-forward",
                                                   word, "leave that option out"});
  };
  CHECK(only_attention({.feed_forward = {.d_ff = 5}}, "d_ff is given") == "");
  CHECK(only_attention({.feed_forward = {.bias = false}}, "bias is left out") == "");
  CHECK(only_attention({.feed_forward = {.gated = true}}, "a gate") == "");
  CHECK(only_attention({.parallel_residual = true}, "parallel to attention") == "");
  CHECK(only_attention({.feed_forward = {.activation = Activation::relu}}, "an activation") == "");
  Random random(1);
  CHECK(complaint([&] { TransformerBlock(4, 3, random); }, {"heads must divide"}) == "");
  CHECK(complaint([] { scattered({})(Tensor::zeros({2, 5})); }, {"(2, 5)", "(4)"}) == "");
}
