// Multi-head attention whose heads share keys and values.
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// (in, groups d) -> (in, heads d): the columns of each group once for every head that reads it.
Linear spread(const Linear& map, Index groups, Index heads) {
  const auto columns = [&](const Tensor& x) {
    std::vector<Tensor> list;
    const Index d = x.size(-1) / groups;
    for (Index head = 0; head < heads; ++head) {
      const Index begin = head * groups / heads * d;
      list.push_back(slice(x, -1, begin, begin + d));
    }
    return concat(list, -1);
  };
  Linear result = map;
  result.weight = columns(map.weight);
  result.bias = columns(map.bias);
  return result;
}

// An ordinary layer of six heads that computes the same.
MultiHeadAttention spread(const MultiHeadAttention& layer) {
  MultiHeadAttention result = layer;
  result.key = spread(layer.key, layer.num_key_value_heads, layer.num_heads);
  result.value = spread(layer.value, layer.num_key_value_heads, layer.num_heads);
  result.num_key_value_heads = layer.num_heads;
  return result;
}

MultiHeadAttention layer_of(Index groups, Positions positions = Positions::none) {
  return scattered(12, 6,
                   {.d_v = 3,
                    .num_key_value_heads = groups,
                    .bias = true,
                    .is_causal = true,
                    .positions = positions});
}

}  // namespace

TEST_CASE("heads that share keys and values do as heads with equal ones do", "[phase6][nn]") {
  for (const Index groups : {1, 2, 3, 6}) {
    for (const Positions positions : {Positions::none, Positions::rotary, Positions::alibi}) {
      const MultiHeadAttention ours = layer_of(groups, positions), plain = spread(ours);
      for (const Index length : {1, 2, 31, 33}) {
        const Tensor x = random_tensor({2, length, 12}, 2);
        const Mask mask = Mask::padding({length, 0});
        CAPTURE(groups, length);
        CHECK(difference_to(ours(x, mask), plain(x, mask), nearly) == "");
        const ForwardContext pass = {.need_weights = true};
        const Tensor expected = plain(x, mask, pass);
        const Capture seen;
        CHECK(difference_to(ours(x, mask, pass), expected, nearly) == "");
        CHECK(seen["value"].shape() == Shape{2, groups, length, 3});
        CHECK(ours.by_heads(seen["value"]).shape() == Shape{2, 6, length, 3});
        CHECK(seen["weights"].shape() == Shape{2, 6, length, length});
      }
    }
  }
}

TEST_CASE("shared keys and values: fewer weights, a smaller cache, the same steps",
          "[phase6][nn]") {
  const MultiHeadAttention layer = layer_of(2, Positions::rotary);
  CHECK(layer.key.weight.shape() == Shape{12, 4});
  CHECK(layer.value.weight.shape() == Shape{12, 6});
  CHECK(layer.output.weight.shape() == Shape{18, 12});
  const Tensor x = random_tensor({2, 7, 12}, 2), whole = layer(x);
  KeyValueCache cache;
  for (Index t = 0; t < 7; ++t) {
    const Tensor row = layer(slice(x, 1, t, t + 1), {}, {.cache = &cache});
    CHECK(difference_to(row, slice(whole, 1, t, t + 1), nearly) == "");
  }
  CHECK(cache.keys.shape() == Shape{2, 2, 7, 2});
  CHECK(cache.values.shape() == Shape{2, 2, 7, 3});
}

TEST_CASE("shared keys and values: the gradients are right", "[phase6][nn]") {
  for (const Index groups : {1, 2}) {
    MultiHeadAttention layer = layer_of(groups);
    const Tensor x = random_tensor({2, 5, 12}, 2);
    CHECK(wrong_gradient_of(layer.parameters(), [&] { return layer(x, Mask::padding({5, 0})); }) ==
          "");
    layer.dropout = 0.4;  // the explicit path
    CHECK(wrong_gradient_of(layer.parameters(), [&] {
            Random random(3);
            return layer(x, {}, {.random = &random});
          }) == "");
  }
}

TEST_CASE("shared keys and values: across, without leading axes, and one head alone",
          "[phase6][nn]") {
  const MultiHeadAttention ours = layer_of(3), plain = spread(ours);
  const Tensor x = random_tensor({4, 12}, 2), context = random_tensor({6, 12}, 3);
  CHECK(difference_to(ours.cross_attend(x, context), plain.cross_attend(x, context), nearly) == "");
  CHECK(difference_to(ours(x), plain(x), nearly) == "");
  Tensor sum = Tensor::zeros({4, 12});
  for (Index i = 0; i < 6; ++i) sum = sum + ours.head(i)(x);
  CHECK(difference_to(sum + ours.output.bias, ours(x), nearly) == "");
}

TEST_CASE("shared keys and values: how many does not fit", "[phase6][nn]") {
  Random random(1);
  for (const Index wrong : {-1, 4, 12}) {
    CHECK(complaint([&] { MultiHeadAttention(12, 6, random, {.num_key_value_heads = wrong}); },
                    {"num_heads is 6", "num_key_value_heads is", "divide num_heads"}) == "");
  }
  CHECK(MultiHeadAttention(12, 6, random).num_key_value_heads == 6);
}
