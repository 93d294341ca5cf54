// The logit lens, and the lens through fitted affine maps.
#include "tapestry/analysis/lens.hpp"

#include <cmath>

#include "analysis/linear_algebra.hpp"
#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/analysis/question.hpp"
#include "tapestry/capture.hpp"

using namespace tapestry;

namespace {

Transformer lens_model(TransformerOptions options, double deviation = 0.4) {
  options.vocab_size = 9, options.d_model = 8, options.num_heads = 2, options.num_layers = 3;
  Random random(7);
  Transformer model(options, random);
  scatter(model.parameters(), random, deviation);
  return model;
}

std::vector<Indices> random_texts(Index count, Index length, Index words) {
  Random random(5);
  std::vector<Indices> texts;
  for (Index i = 0; i < count; ++i) {
    Indices text({length}, std::vector<std::int32_t>(static_cast<std::size_t>(length)));
    for (std::int32_t& id : text.values) id = static_cast<std::int32_t>(random.randint(words));
    texts.push_back(text);
  }
  return texts;
}

// Each block adds the same vector to every position: what maps find is known.
Transformer constant_adder() {
  Transformer model = lens_model({.has_feed_forward = false, .attention_bias = true});
  for (TransformerBlock& block : model.blocks) {
    std::fill_n(block.attention.value.weight.data(), 64, real{0});
  }
  return model;
}

}  // namespace

TEST_CASE("the logit lens reads out the residual stream after each block", "[phase7][analysis]") {
  const Indices ids({4}, {1, 8, 0, 3});
  const std::vector<TransformerOptions> kinds = {
      {},
      {.norm_kind = NormKind::rms, .tied_logits = true},
      {.norm_place = NormPlace::post},
      {.positions = Positions::rotary, .parallel_residual = true},
      {.is_causal = false, .num_token_types = 2, .embedding_norm = true, .logits_transform = true}};
  for (const TransformerOptions& kind : kinds) {
    const Transformer model = lens_model(kind);
    const Tensor said = logit_lens(model, ids);
    REQUIRE(said.shape() == Shape{4, 4, 9});
    const auto layer = [&](Index i) { return squeeze(slice(said, 0, i, i + 1), 0); };
    CHECK(difference_to(layer(3), model(ids), nearly) == "");
    for (Index stop = 0; stop < 3; ++stop) {  // a model that has only so many blocks
      Transformer shorter = model;
      shorter.blocks.resize(static_cast<std::size_t>(stop), model.blocks[0]);
      CHECK(difference_to(layer(stop), shorter(ids), nearly) == "");
    }
  }
}

TEST_CASE("the lens shows where the planted model finds the word", "[phase7][analysis]") {
  const Transformer model = planted_induction();
  const Tensor told = answer(logit_lens(model, Indices({4}, {3, 5, 1, 3})), {.token = 5});
  REQUIRE(told.shape() == Shape{3});
  const double open = -std::log(8.0);
  CHECK(double{told.at({0})} == Approx(open).margin(0.05));
  CHECK(double{told.at({1})} == Approx(open).margin(0.05));
  CHECK(double{told.at({2})} > -0.01);
}

TEST_CASE("least squares finds a map that is there", "[phase7][analysis]") {
  const Tensor w = random_tensor({3, 2}, 1), b = random_tensor({2}, 2);
  LeastSquares sums(3, 2);
  for (std::uint64_t part = 3; part < 6; ++part) {
    const Tensor x = random_tensor({7, 3}, part) + 2;
    sums.add(x, linear(x, w, b));
  }
  const AffineMap found = sums.solve(1e-9);
  CHECK(difference_to(found.weight, w, 1e-5) == "");
  CHECK(difference_to(found.bias, b, 1e-5) == "");
  CHECK(difference(sums.solve(1e9).weight, {3, 2}, std::vector<double>(6), 1e-6) == "");
}

TEST_CASE("least squares with a ridge solves its normal equations", "[phase7][analysis]") {
  const Tensor x = random_tensor({5, 3}, 1), y = random_tensor({5, 2}, 2);
  LeastSquares sums(3, 2);
  sums.add(x, y);
  const double ridge = 0.3;
  const AffineMap found = sums.solve(ridge);
  const Tensor left = linear(x, found.weight, found.bias) - y;  // (rows, out)
  const Tensor slope = matmul(transpose(x - mean(x, 0)), left) / 5 +
                       ridge * mean(var(x, 0)) * found.weight;  // (in, out)
  CHECK(difference(slope, {3, 2}, std::vector<double>(6), 1e-6) == "");
  CHECK(difference(mean(left, 0), {2}, {0, 0}, 1e-6) == "");
}

TEST_CASE("least squares of equal rows is their mean", "[phase7][analysis]") {
  LeastSquares sums(2, 1);
  sums.add(Tensor::zeros({4, 2}), Tensor({4, 1}, {1, 2, 3, 6}));
  const AffineMap found = sums.solve(1e-4);
  CHECK(difference(found.weight, {2, 1}, {0, 0}) == "");
  CHECK(difference(found.bias, {1}, {3}) == "");
}

TEST_CASE("an affine lens finds what blocks only add", "[phase7][analysis]") {
  const Transformer model = constant_adder();
  const std::vector<Indices> texts = random_texts(35, 6, 9);
  const AffineLens lens = fit_lens(model, texts);
  CHECK(lens.fitted == 28 * 6);
  CHECK(lens.held_out == 7 * 6);  // each fifth
  const Tensor said = affine_lens(model, lens, texts[0]), own = model(texts[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lens.explained[i] == Approx(1).epsilon(1e-4));
    CHECK(lens.unchanged[i] < 0.99);
    const Tensor layer = squeeze(slice(said, 0, static_cast<Index>(i), Index(i) + 1), 0);
    CHECK(difference_to(layer, own, 1e-3) == "");
  }
  CHECK(difference_to(squeeze(slice(said, 0, 3, 4), 0), own, nearly) == "");
  CHECK(largest_difference(slice(logit_lens(model, texts[0]), 0, 0, 1), unsqueeze(own, 0)) > 0.1);
}

TEST_CASE("the share that is explained is that of texts held out", "[phase7][analysis]") {
  const Transformer model = lens_model({});
  std::vector<Indices> texts = random_texts(3, 5, 9);
  texts.push_back(Indices({2}, {4, 4}));
  const AffineLens lens = fit_lens(model, texts, 1e-3);
  CHECK(lens.fitted == 15);
  CHECK(lens.held_out == 2);
  const Tensor streams = residual_streams(model, texts.back());
  const Tensor last = squeeze(slice(streams, 0, 3, 4), 0);  // (length, d_model)
  const double around = double{sum(var(last, 0)).item()} * 2;
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor x = squeeze(slice(streams, 0, Index(i), Index(i) + 1), 0);
    const Tensor missed = linear(x, lens.maps[i], lens.biases[i]) - last;
    const double share = 1 - double{sum(missed * missed).item()} / around;
    CHECK(lens.explained[i] == Approx(share).epsilon(1e-3));
    const double as_it_is = 1 - double{sum((x - last) * (x - last)).item()} / around;
    CHECK(lens.unchanged[i] == Approx(as_it_is).epsilon(1e-3));
  }
}

TEST_CASE("a lens refuses what it cannot read", "[phase7][analysis]") {
  const Transformer model = lens_model({}), deaf = lens_model({.has_logits = false});
  const std::vector<Indices> texts = random_texts(5, 4, 9);
  const AffineLens lens = fit_lens(model, texts);
  CHECK(complaint([&] { (void)logit_lens(deaf, texts[0]); }, {"lens", "no logits"}) == "");
  CHECK(complaint([&] { (void)fit_lens(deaf, texts); }, {"no logits"}) == "");
  CHECK(complaint([&] { (void)affine_lens(deaf, lens, texts[0]); }, {"no logits"}) == "");
  CHECK(complaint([&] { (void)logit_lens(model, Indices({2, 1}, {1, 2})); },
                  {"lens", "(2, 1)", "(length)"}) == "");
  CHECK(complaint([&] { (void)residual_streams(model, Indices({0}, {})); }, {"(0)"}) == "");
  CHECK(complaint([&] { (void)fit_lens(model, {texts.data(), 1}); }, {"1 texts", "2"}) == "");
  const Capture other;
  CHECK(complaint([&] { (void)logit_lens(model, texts[0]); }, {"Capture"}) == "");
  const std::vector<Indices> empty = {texts[0], Indices({0}, {})};
  CHECK(complaint([&] { (void)fit_lens(model, empty); }, {"text 1", "empty"}) == "");
  const std::vector<Indices> first_empty = {Indices({0}, {}), texts[0]};
  CHECK(complaint([&] { (void)fit_lens(model, first_empty); }, {"text 0", "empty"}) == "");
  CHECK(complaint([&] { (void)fit_lens(model, texts, 0); }, {"ridge is 0", "above 0"}) == "");
  CHECK(complaint([&] { (void)fit_lens(model, texts, infinity); }, {"ridge is inf"}) == "");
  AffineLens broken = lens;
  broken.biases.pop_back();
  CHECK(complaint([&] { (void)affine_lens(model, broken, texts[0]); }, {"fit it anew"}) == "");
  Random random(1);
  const Transformer narrow({.vocab_size = 9, .d_model = 4, .num_heads = 2, .num_layers = 3},
                           random);
  CHECK(complaint([&] { (void)affine_lens(narrow, lens, texts[0]); },
                  {"3 layers and width 8", "3 and width 4"}) == "");
  CHECK(complaint([&] { (void)affine_lens(planted_induction(), lens, texts[0]); },
                  {"3 layers and width 8", "2 and width 40"}) == "");
}
