// Multi-head attention against plain loops: what it computes, for whom, and in which shapes.
#include "tapestry/nn/multi_head_attention.hpp"

#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const MultiHeadAttentionOptions of_own_widths = {
    .d_k = 3, .d_v = 5, .d_context = 7, .bias = true, .is_causal = true};

// The fused path, and the explicit one, which stores its weights.
std::string wrong_layer(const MultiHeadAttention& m, const Tensor& x, const Tensor& context,
                        const Mask& mask) {
  const MultiHeadByHand expected = multi_head_by_hand(m, x, context, mask);
  const bool self = x.buffer() == context.buffer();
  const auto run = [&](const ForwardContext& pass) {
    return self ? m(x, mask, pass) : m.cross_attend(x, context, mask, pass);
  };
  std::string wrong = difference(run({}), x.shape(), expected.output, nearly);
  const Capture seen;
  wrong += difference(run({.need_weights = true}), x.shape(), expected.output, nearly);
  const Shape rows{x.size(0), m.num_heads, x.size(1), context.size(1)};
  wrong += difference(seen["weights"], rows, expected.weights, nearly);
  const Shape heads = rows.with(-1, m.value.weight.size(1) / m.num_heads);
  return wrong + difference(seen["heads"], heads, expected.heads, nearly);
}

}  // namespace

TEST_CASE("1, 2, 4 or 8 heads are what the formula says", "[phase2][nn]") {
  const Tensor x = random_tensor({2, 5, 8});
  for (const Index heads : {1, 2, 4, 8}) {
    for (const bool causal : {false, true}) {
      CAPTURE(heads, causal);
      const MultiHeadAttention m = scattered(8, heads, {.bias = heads > 2, .is_causal = causal});
      CHECK(wrong_layer(m, x, x, {}) == "");
    }
  }
}

TEST_CASE("widths of one's own, biases, and every mask, each the same for all heads",
          "[phase2][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.d_k = 3, .d_v = 5, .bias = true});
  CHECK(m.query.weight.shape() == Shape{4, 6});
  CHECK(m.key.weight.shape() == Shape{4, 6});
  CHECK(m.value.weight.shape() == Shape{4, 10});
  CHECK(m.output.weight.shape() == Shape{10, 4});
  const Tensor x = random_tensor({3, 4, 4});
  Tensor keep = Tensor::ones({3, 4, 4});
  keep.set({1, 2, 0}, 0);
  const std::vector<Mask> masks = {Mask(),
                                   Mask::causal(),
                                   Mask::local(1),
                                   Mask::padding({4, 1, 3}),
                                   Mask::padding({4, 0, 2}) & Mask::causal(),
                                   Mask::from(MaskEncoding::keep, keep)};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    CAPTURE(i);
    CHECK(wrong_layer(m, x, x, masks[i]) == "");
  }
}

TEST_CASE("a scale and a cap of the layer's scores, on both paths", "[phase2][nn]") {
  const Tensor x = random_tensor({2, 5, 8}, 1), context = random_tensor({2, 6, 8}, 2);
  for (const ScoreOptions& how :
       std::vector<ScoreOptions>{{.softcap = 0.3}, {.scale = -0.7}, {.scale = 2, .softcap = 1.5}}) {
    const MultiHeadAttention m = scattered(8, 2, {.is_causal = true, .scores = how});
    CAPTURE(how.softcap);
    CHECK(wrong_layer(m, x, x, Mask::local(2)) == "");
    CHECK(wrong_layer(m, x, context, {}) == "");
    CHECK(largest_difference(m(x), scattered(8, 2, {.is_causal = true})(x)) > 1e-3);
  }
}

TEST_CASE("cross-attention: queries of one sequence, keys and values of another", "[phase2][nn]") {
  for (const bool causal : {false, true}) {
    MultiHeadAttentionOptions options = of_own_widths;
    options.is_causal = causal;
    const MultiHeadAttention m = scattered(4, 2, options);
    CHECK(m.key.weight.shape() == Shape{7, 6});
    const Tensor x = random_tensor({2, 3, 4}, 1), context = random_tensor({2, 5, 7}, 2);
    CHECK(wrong_layer(m, x, context, {}) == "");
    CHECK(wrong_layer(m, x, context, Mask::padding({5, 2})) == "");
    const Tensor one = squeeze(slice(x, 0, 1, 2), 0), its = squeeze(slice(context, 0, 1, 2), 0);
    const Tensor alone = m.cross_attend(one, its);  // without leading axes
    CHECK(difference_to(alone, squeeze(slice(m.cross_attend(x, context), 0, 1, 2), 0), nearly) ==
          "");
    CHECK(same_bits(
        m.cross_attend(one, its, Mask::padding({1})),  // a batch of one
        squeeze(m.cross_attend(unsqueeze(one, 0), unsqueeze(its, 0), Mask::padding({1})), 0)));
    const Tensor shared = m.cross_attend(x, its);  // one context for a batch
    CHECK(difference_to(squeeze(slice(shared, 0, 1, 2), 0), alone, nearly) == "");
  }
  const MultiHeadAttention same = scattered(4, 2, {});
  const Tensor x = random_tensor({2, 3, 4});
  CHECK(same_bits(same.cross_attend(x, x), same(x)));
}

TEST_CASE("(2, 10, 64) through 1, 2, 4 and 8 heads: every stage has its shape", "[phase2][nn]") {
  const Tensor x = random_tensor({2, 10, 64});
  for (const Index heads : {1, 2, 4, 8}) {
    CAPTURE(heads);
    const MultiHeadAttention m = scattered(64, heads, {});
    const Capture seen;
    const Tensor y = m(x, {}, {.need_weights = true});
    const Index d = 64 / heads;
    CHECK(m.query(x).shape() == Shape{2, 10, 64});
    for (const char* name : {"query", "key", "value", "heads"}) {
      CHECK(seen[name].shape() == Shape{2, heads, 10, d});
    }
    CHECK(seen["scores"].shape() == Shape{2, heads, 10, 10});
    CHECK(seen["weights"].shape() == Shape{2, heads, 10, 10});
    CHECK(concat_heads(seen["heads"]).shape() == Shape{2, 10, 64});
    CHECK(y.shape() == Shape{2, 10, 64});
    for (const Parameter& stage : seen.all()) CHECK(all_finite(stage.value));
    const std::vector<double> ones(static_cast<std::size_t>(2 * heads * 10), 1);
    CHECK(difference(sum(seen["weights"], -1), {2, heads, 10}, ones, nearly) == "");
    CHECK(min(seen["weights"]).item() >= 0);
    CHECK(max(seen["weights"]).item() <= 1);
  }
}

TEST_CASE("(32, 128, 512) in 8 heads", "[phase2][nn]") {
  const Tensor rows = Tensor::full({32, 128, 512}, 0.5);
  const Tensor heads = split_heads(rows, 8);
  CHECK(heads.shape() == Shape{32, 8, 128, 64});
  CHECK(concat_heads(heads).shape() == Shape{32, 128, 512});
  CHECK(concat_heads(heads).buffer() == rows.buffer());  // nothing was copied
  Random random(1);
  const MultiHeadAttention m(512, 8, random);
  const Capture seen;  // few positions: more would be many seconds in double
  CHECK(m(slice(slice(rows, 0, 0, 2), 1, 0, 3)).shape() == Shape{2, 3, 512});
  CHECK(seen["heads"].shape() == Shape{2, 8, 3, 64});
}

TEST_CASE("a sequence alone is a batch of one, and leading axes are a batch", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(8, 4, {.bias = true, .is_causal = true});
  const Tensor x = random_tensor({6, 5, 8});
  const Tensor whole = m(x);
  const Tensor second = squeeze(slice(x, 0, 1, 2), 0);
  CHECK(same_bits(m(second), squeeze(m(unsqueeze(second, 0)), 0)));
  CHECK(difference_to(m(second), squeeze(slice(whole, 0, 1, 2), 0), nearly) == "");
  CHECK(same_bits(reshape(m(reshape(x, {2, 3, 5, 8})), {6, 5, 8}), whole));
  CHECK(m(Tensor::zeros({1, 8})).shape() == Shape{1, 8});
  CHECK(m(Tensor::zeros({0, 8})).shape() == Shape{0, 8});
  CHECK(m(Tensor::zeros({2, 0, 8})).shape() == Shape{2, 0, 8});
  const Tensor strided = transpose(random_tensor({2, 8, 5}));
  CHECK(difference_to(m(strided), m(strided.clone()), nearly) == "");
}

TEST_CASE("padding is by sequence, even where there are as many heads as sequences",
          "[phase2][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {});
  const Tensor x = random_tensor({2, 3, 4});
  const Mask mask = Mask::padding({3, 1});
  const Capture seen;
  m(x, mask, {.need_weights = true});
  for (Index h = 0; h < 2; ++h) {
    CHECK(seen["weights"].at({0, h, 0, 2}) > 0);
    CHECK(seen["weights"].at({1, h, 0, 2}) == 0);
  }
  // Without a batch the lengths would fall on the heads, if the first axis were taken for it.
  const Tensor one = squeeze(slice(x, 0, 0, 1), 0);
  CHECK(complaint([&] { m(one, mask); }, {"mask", "for 2 sequences", "first axis has 1"}) == "");
  CHECK(m(one, Mask::padding({2})).shape() == Shape{3, 4});
}

TEST_CASE("the outputs of the heads alone add up to the layer's", "[phase2][nn]") {
  const Tensor x = random_tensor({2, 5, 8});
  const Mask mask = Mask::padding({5, 3});
  for (const Index heads : {1, 2, 4, 8}) {
    for (const bool bias : {false, true}) {
      CAPTURE(heads, bias);
      const MultiHeadAttention m =
          scattered(8, heads, {.d_k = 3, .d_v = 2, .bias = bias, .is_causal = true});
      Tensor total = bias ? m.output.bias : Tensor(0);
      for (Index h = 0; h < heads; ++h) total = total + m.head(h)(x, mask);
      CHECK(difference_to(m(x, mask), total, nearly) == "");
    }
  }
}

TEST_CASE("a head alone looks as it does in the layer, and owns its weights", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(6, 3, {.bias = true, .is_causal = true});
  const Tensor x = random_tensor({4, 6});
  const Capture seen;
  const Tensor before = m(x, {}, {.need_weights = true});
  const Tensor weights = squeeze(seen["weights"], 0);
  for (Index h = 0; h < 3; ++h) {
    const SingleHeadAttention one = m.head(h);
    CHECK(one.query.weight.shape() == Shape{6, 2});
    CHECK(one.output.weight.shape() == Shape{2, 6});
    CHECK(one.is_causal);
    CHECK_FALSE(one.output.bias.defined());
    CHECK(difference_to(one.with_weights(x).weights, squeeze(slice(weights, 0, h, h + 1), 0),
                        nearly) == "");
    Random random(9);
    scatter(one.parameters(), random);
  }
  CHECK(same_bits(m(x, {}, {.need_weights = true}), before));
  CHECK(complaint([&] { m.head(3); }, {"no head 3", "0 to 2"}) == "");
  CHECK(complaint([&] { m.head(-1); }, {"no head -1"}) == "");
  CHECK(complaint([] { scattered(4, 2, of_own_widths).head(0); }, {"d_context is not d_model"}) ==
        "");
}

TEST_CASE("a causal layer: a later position changes no bit of an earlier one", "[phase4][nn]") {
  const MultiHeadAttention m = scattered(8, 2, {.is_causal = true});
  const Tensor x = random_tensor({6, 8});
  const Tensor before = m(x);
  for (Index changed = 1; changed < 6; ++changed) {
    Tensor other = x.clone();
    for (Index c = 0; c < 8; ++c) other.set({changed, c}, 9);
    const Tensor after = m(other);
    CHECK(same_bits(slice(after, 0, 0, changed), slice(before, 0, 0, changed)));
    CHECK_FALSE(same_bits(slice(after, 0, changed, 6), slice(before, 0, changed, 6)));
  }
  const MultiHeadAttention open = scattered(8, 2, {});
  CHECK_FALSE(same_bits(slice(open(x), 0, 0, 1), slice(before, 0, 0, 1)));
}

TEST_CASE("a query that may see nothing gets zeros, and the bias of the last map", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.bias = true});
  const Tensor x = random_tensor({2, 3, 4});
  const Tensor y = m(x, Mask::padding({3, 0}));
  CHECK(difference_to(slice(y, 0, 1, 2), expand(m.output.bias, {1, 3, 4}), 0) == "");
  const Capture seen;
  CHECK(difference_to(m(x, Mask::padding({3, 0}), {.need_weights = true}), y, nearly) == "");
  CHECK(max(slice(seen["weights"], 0, 1, 2)).item() == 0);
  CHECK(max(slice(seen["heads"], 0, 1, 2)).item() == 0);
}
