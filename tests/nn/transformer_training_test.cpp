// A transformer as something that learns: its parameters, their gradients, memory and threads.
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "nn/without.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "threads.hpp"

using namespace tapestry;

namespace {

TransformerOptions tiny() {
  return {
      .vocab_size = 5, .max_length = 4, .d_model = 4, .num_heads = 2, .num_layers = 1, .d_ff = 3};
}

const Indices ids({2, 4}, {0, 1, 2, 3, 4, 3, 1, 0});
const Indices targets({2, 4}, {1, 2, 3, 4, 3, 1, 0, -1});

std::string wrong_model(const TransformerOptions& options) {
  Random random(4);
  const Transformer model(options, random);
  scatter(model.parameters(), random, 0.4);
  const auto f = [&] {
    Random drops(8);  // the same numbers are dropped each time
    const Tensor logits = model(ids, {}, {.random = &drops});
    return cross_entropy(logits, targets) + mean(logits * logits);
  };
  GradcheckOptions fine;  // all parameters move at once, and relu has its kinks: short steps
  fine.eps = in_double ? 1e-4 : 4e-3;
  return gradcheck(f, model.parameters(), fine).message;
}

Index numbers(const Transformer& model) {
  Index count = 0;
  for (const Parameter& parameter : model.parameters()) count += parameter.value.numel();
  return count;
}

// All gradients of one step of training.
std::vector<std::vector<real>> gradients_with(int threads) {
  use_threads(threads);
  Random random(4), drops(5);
  const Transformer model({.vocab_size = 40, .num_layers = 1, .dropout = 0.1}, random);
  Indices words({8, 32}, std::vector<std::int32_t>(256));
  for (std::int32_t& word : words.values) word = static_cast<std::int32_t>(random.randint(40));
  Tape tape(model.parameters());
  const Gradients all = tape.backward(cross_entropy(model(words, {}, {.random = &drops}), words));
  std::vector<std::vector<real>> values;
  for (std::size_t i = 0; i < all.size(); ++i) values.push_back(all.at(i).values());
  return values;
}

}  // namespace

TEST_CASE("the gradients of a transformer are right, whatever it is made of", "[phase2][nn]") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    for (const Positions positions : {Positions::learned, Positions::sinusoidal, Positions::none,
                                      Positions::rotary, Positions::relative, Positions::alibi}) {
      for (const bool has_feed_forward : {true, false}) {
        for (const bool bias : {true, false}) {
          CAPTURE(int(place), int(positions), has_feed_forward, bias);
          TransformerOptions options = tiny();
          options.norm_place = place;
          options.positions = positions;
          options.attention_bias = bias;
          options.activation = bias ? Activation::gelu : Activation::none;
          options.is_causal = bias;
          if (!has_feed_forward) options = attention_only(options);
          CHECK(wrong_model(options) == "");
        }
      }
    }
  }
}

TEST_CASE("the gradients of a transformer with relu, and with dropout, are right", "[phase2][nn]") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    TransformerOptions options = tiny();
    options.norm_place = place;
    options.dropout = 0.3;
    CHECK(wrong_model(options) == "");
    options.dropout = 0;
    options.activation = Activation::relu;
    CHECK(wrong_model(options) == "");
  }
}

TEST_CASE("the gradients of a transformer with RMS norm are right", "[phase2][nn]") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    for (const Positions positions : {Positions::learned, Positions::rotary}) {
      for (const bool has_feed_forward : {true, false}) {
        CAPTURE(int(place), int(positions), has_feed_forward);
        TransformerOptions options = tiny();
        options.norm_place = place;
        options.norm_kind = NormKind::rms;
        options.positions = positions;
        if (!has_feed_forward) options = attention_only(options);
        CHECK(wrong_model(options) == "");
      }
    }
  }
}

TEST_CASE("a transformer names its parameters", "[phase2][nn]") {
  TransformerOptions options = tiny();
  options.attention_bias = true;
  Random random(1);
  std::vector<std::string> expected = {"m.words.weight", "m.positions.weight"};
  const std::string block = "m.blocks.0.";
  for (const char* name : {"attention_norm.gain", "attention_norm.bias"}) {
    expected.push_back(block + name);
  }
  for (const char* map : {"query", "key", "value", "output"}) {
    for (const char* kind : {".weight", ".bias"}) {
      expected.push_back(block + "attention." + map + kind);
    }
  }
  for (const char* name :
       {"feed_forward_norm.gain", "feed_forward_norm.bias", "feed_forward.up.weight",
        "feed_forward.up.bias", "feed_forward.down.weight", "feed_forward.down.bias"}) {
    expected.push_back(block + name);
  }
  expected.insert(expected.end(), {"m.norm.gain", "m.norm.bias", "m.logits.weight"});
  CHECK(names(Transformer(options, random).parameters("m.")) == expected);
  std::erase_if(expected, [](const std::string& name) { return name.ends_with("norm.bias"); });
  options.norm_kind = NormKind::rms;
  CHECK(names(Transformer(options, random).parameters("m.")) == expected);
}

TEST_CASE("a transformer has as many numbers as the formula says", "[phase2][nn]") {
  const Index v = 7, length = 9, d = 8, f = 12, layers = 3;
  for (const bool bias : {true, false}) {
    for (const bool thinks : {true, false}) {
      for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
        for (const Positions positions : {Positions::learned, Positions::sinusoidal}) {
          Random random(1);
          const Transformer model({.vocab_size = v,
                                   .max_length = length,
                                   .d_model = d,
                                   .num_heads = 2,
                                   .num_layers = layers,
                                   .d_ff = thinks ? f : 0,
                                   .has_feed_forward = thinks,
                                   .attention_bias = bias,
                                   .positions = positions,
                                   .norm_place = place},
                                  random);
          const Index attention = 4 * d * d + (bias ? 4 * d : 0) + 2 * d;
          const Index feed_forward = thinks ? 2 * d * f + f + d + 2 * d : 0;
          CHECK(numbers(model) == 2 * v * d + (positions == Positions::learned ? length * d : 0) +
                                      layers * (attention + feed_forward) +
                                      (place == NormPlace::pre ? 2 * d : 0));
        }
      }
    }
  }
}

TEST_CASE("one seed, one model; another seed, another", "[phase2][nn]") {
  Random one(7), same(7), other(8);
  const Parameters a = Transformer(tiny(), one).parameters();
  const Parameters b = Transformer(tiny(), same).parameters();
  const Parameters c = Transformer(tiny(), other).parameters();
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(same_bits(a[i].value, b[i].value));
    CHECK(a[i].value.buffer() != b[i].value.buffer());
    if (a[i].name.find("norm") == std::string::npos && a[i].name.ends_with("weight")) {
      CHECK_FALSE(same_bits(a[i].value, c[i].value));
    }
  }
}

TEST_CASE("from the second step of training on, nothing is asked of the system", "[phase2][nn]") {
  for (const double dropout : {0.0, 0.2}) {
    TransformerOptions options = tiny();
    options.dropout = dropout;
    Random random(4), drops(5);
    const Transformer model(options, random);
    Adam adam(model.parameters());
    release_pooled_memory();
    std::vector<std::size_t> fresh, live;
    for (int step = 0; step < 3; ++step) {
      Tape tape(model.parameters());
      Gradients gradients =
          tape.backward(cross_entropy(model(ids, {}, {.random = &drops}), targets));
      clip_gradient_norm(gradients, 1);
      adam.step(gradients);
      fresh.push_back(memory_stats().num_allocs);
      live.push_back(memory_stats().live_bytes);
    }
    CHECK(fresh[1] == fresh[0]);
    CHECK(fresh[2] == fresh[0]);
    CHECK(live == std::vector<std::size_t>(3, live[0]));
  }
}

TEST_CASE("training gives the same bits for any number of threads", "[phase2][nn]") {
  const SmallWorkShared shared;
  const std::vector<std::vector<real>> alone = gradients_with(1);
  for (const int threads : {2, 3}) CHECK(gradients_with(threads) == alone);
}

TEST_CASE("a transformer learns a sequence by heart", "[phase2][nn]") {
  Random random(4);
  TransformerOptions options = tiny();
  options.d_model = 8;
  const Transformer model(options, random);
  Adam adam(model.parameters(), {.learning_rate = 0.05});
  double loss = 0;
  for (int step = 0; step < 60; ++step) {
    Tape tape(model.parameters());
    const Tensor y = cross_entropy(model(ids), targets);
    loss = double{y.item()};
    adam.step(tape.backward(y));
  }
  CHECK(loss < 0.1);  // it began near log 5 = 1.6
}
