#include "tapestry/nn/feed_forward.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"

using namespace tapestry;

namespace {

double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

// x (batch, length, d_model)
std::vector<double> by_hand(const FeedForward& layer, const Tensor& x) {
  return tabulate(x.shape(), [&](const Place& at) {
    double sum = layer.down.bias.defined() ? element(layer.down.bias, {at[2]}) : 0;
    for (Index c = 0; c < layer.up.weight.size(1); ++c) {
      const double up = mapped(layer.up, x, at[0], at[1], c);
      const double gated =
          layer.gate ? up * activated(mapped(*layer.gate, x, at[0], at[1], c), layer.activation)
                     : activated(up, layer.activation);
      sum += gated * element(layer.down.weight, {c, at[2]});
    }
    return sum;
  });
}

constexpr Activation all_activations[] = {Activation::none, Activation::relu, Activation::gelu,
                                          Activation::gelu_tanh, Activation::silu};

}  // namespace

TEST_CASE("feed-forward is two maps with an activation between, at every position alone",
          "[phase2][nn]") {
  Random random(2);
  for (const Activation activation : all_activations) {
    for (const bool bias : {true, false}) {
      for (const bool gated : {true, false}) {
        CAPTURE(static_cast<int>(activation), bias, gated);
        const FeedForward layer(
            5, random, {.d_ff = 7, .activation = activation, .bias = bias, .gated = gated});
        scatter(layer.parameters(), random);
        const Tensor x = random.normal({2, 3, 5});
        CHECK(difference(layer(x), {2, 3, 5}, by_hand(layer, x), nearly) == "");
        CHECK(layer.parameters().size() == std::size_t((gated ? 3 : 2) * (bias ? 2 : 1)));
      }
    }
  }
}

TEST_CASE("feed-forward is four times as wide unless told, and keeps its input's shape",
          "[phase2][nn]") {
  Random random(2);
  const FeedForward layer(3, random);
  CHECK(layer.up.weight.shape() == Shape{3, 12});
  CHECK(layer.down.weight.shape() == Shape{12, 3});
  for (const Shape& shape : {Shape{3}, Shape{0, 3}, Shape{2, 1, 4, 3}}) {
    CHECK(layer(Tensor::ones(shape)).shape() == shape);
  }
  CHECK(names(layer.parameters("ff.")) ==
        std::vector<std::string>{"ff.up.weight", "ff.up.bias", "ff.down.weight", "ff.down.bias"});
}

TEST_CASE("the gradients of feed-forward are right", "[phase2][nn]") {
  for (const Activation activation : all_activations) {
    for (const bool gated : {true, false}) {
      CAPTURE(static_cast<int>(activation), gated);
      Random random(4);
      const FeedForward layer(3, random, {.d_ff = 4, .activation = activation, .gated = gated});
      Parameters all = layer.parameters();
      scatter(all, random, 1);
      const Tensor x = random.normal({2, 3});
      all.push_back({"x", x});
      GradcheckOptions short_steps;  // relu has its kink
      short_steps.eps = in_double ? 1e-4 : 4e-3;
      CHECK(wrong_gradient_of(all, [&] { return layer(x); }, short_steps) == "");
    }
  }
}

TEST_CASE("a gate is a third map of the same width, drawn after the others", "[phase7][nn]") {
  Random random(2), same(2);
  const FeedForward gated(3, random, {.d_ff = 5, .gated = true}), plain(3, same, {.d_ff = 5});
  CHECK(gated.gate->weight.shape() == Shape{3, 5});
  CHECK(same_bits(gated.up.weight, plain.up.weight));
  CHECK(names(gated.parameters())[0] == "gate.weight");
}

TEST_CASE("feed-forward says what does not fit", "[phase2][nn]") {
  Random random(2);
  const FeedForward layer(3, random);
  CHECK(complaint([&] { layer(Tensor::zeros({2, 4})); }, {"linear: x is (2, 4)", "(3, 12)"}) == "");
  CHECK(FeedForward(1, random, {.d_ff = 1})(Tensor::zeros({2, 1})).shape() == Shape{2, 1});
  CHECK(FeedForward(2, random).up.weight.shape() == Shape{2, 8});
  CHECK(complaint([&] { FeedForward(0, random); }, {"in = 0", "at least 1"}) == "");
  CHECK(complaint([&] { FeedForward(3, random, {.d_ff = -1}); }, {"out = -1"}) == "");
  CHECK(complaint([&] { FeedForward(3, random, {.initializer = nullptr}); },
                  {"the initializer is null"}) == "");
}
