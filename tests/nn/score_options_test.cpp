// The scale and the cap of scores in layers: gradients, grouped heads, one head alone, models.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const ScoreOptions narrow = {.scale = 1.3, .softcap = 0.7};

}  // namespace

TEST_CASE("gradients of a layer with a scale and a cap", "[phase2][nn]") {
  for (const bool stored : {false, true}) {
    const ScoreOptions how = {.scale = 0.4, .softcap = 1.5};
    const MultiHeadAttention m = scattered(4, 2, {.is_causal = true, .scores = how});
    const Tensor x = random_tensor({2, 3, 4});
    const ForwardContext pass = {.need_weights = stored};
    CAPTURE(stored);
    CHECK(wrong_gradient_of(m.parameters(), [&] { return m(x, {}, pass); }) == "");
  }
}

TEST_CASE("capped scores on both paths, where heads share keys, and before a bias",
          "[phase2][nn]") {
  const Tensor x = random_tensor({2, 7, 12});
  const Capture seen;
  for (const Positions positions : {Positions::none, Positions::rotary, Positions::alibi}) {
    const MultiHeadAttention m =
        scattered(12, 6, {.num_key_value_heads = 2, .scores = narrow, .positions = positions});
    const Tensor stored = m(x, {}, {.need_weights = true});
    const Tensor scores = seen["scores"];
    CHECK(difference_to(m(x), stored, nearly) == "");
    if (positions == Positions::alibi) continue;
    CHECK(max(abs(scores)).item() <= real(narrow.softcap));
    CHECK(max(abs(scores)).item() > 0.5);  // so the cap bends them
  }
  const MultiHeadAttention far =
      scattered(12, 6, {.scores = narrow, .positions = Positions::alibi});
  (void)far(x, {}, {.need_weights = true});
  CHECK(min(seen["scores"]).item() < -narrow.softcap);  // distances come after the cap
}

TEST_CASE("the capped heads alone add up to the layer", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(8, 4, {.scores = narrow});
  const Tensor x = random_tensor({2, 5, 8});
  Tensor total = Tensor::zeros(x.shape());
  for (Index head = 0; head < 4; ++head) {
    const SingleHeadAttention one = m.head(head);
    total = total + one(x);
    CHECK(difference_to(one.with_weights(x).output, one(x), nearly) == "");
    CHECK(max(abs(one.with_weights(x).scores)).item() <= real(narrow.softcap));
  }
  CHECK(difference_to(total, m(x), nearly) == "");
}

TEST_CASE("a model hands its scale and cap to every block, and next() keeps them", "[phase2][nn]") {
  Random random(3);
  const Transformer model(
      {.vocab_size = 7, .max_length = 8, .d_model = 8, .num_heads = 2, .scores = narrow}, random);
  scatter(model.parameters(), random);
  for (const TransformerBlock& block : model.blocks) {
    CHECK(block.attention.scores.scale == narrow.scale);
    CHECK(block.attention.scores.softcap == narrow.softcap);
  }
  const Indices ids({1, 4}, {1, 6, 0, 3});
  const Tensor whole = model(ids);
  std::vector<KeyValueCache> caches;
  (void)model.next({{1, 3}, {1, 6, 0}}, caches);
  CHECK(difference_to(model.next({{1, 1}, {3}}, caches), slice(whole, 1, 3, 4), nearly) == "");
}

TEST_CASE("layers refuse scales and caps that cannot be", "[phase2][nn]") {
  Random random(1);
  const auto refusal = [&](const ScoreOptions& how, const char* words) {
    return complaint([&] { MultiHeadAttention(4, 2, random, {.scores = how}); },
                     {"multi-head attention: ", words}) +
           complaint([&] { SingleHeadAttention(4, random, {.scores = how}); },
                     {"self-attention: ", words}) +
           complaint([&] { Transformer({.vocab_size = 3, .scores = how}, random); }, {words});
  };
  CHECK(refusal({.scale = NAN}, "the scale is nan, but must be finite") == "");
  CHECK(refusal({.scale = -infinity}, "the scale is -inf") == "");
  CHECK(refusal({.softcap = -1}, "the softcap is -1") == "");
  CHECK(refusal({.softcap = NAN}, "the softcap is nan") == "");
  CHECK(refusal({.softcap = infinity}, "the softcap is inf") == "");
}
