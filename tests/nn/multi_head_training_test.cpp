// Multi-head attention while it trains and while it generates: gradients, dropout, the cache; and
// what it refuses.
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("the gradients of multi-head attention are right, fused and explicit", "[phase2][nn]") {
  for (const Index heads : {1, 2, 4}) {
    for (const Mask& mask : {Mask(), Mask::padding({3, 0})}) {
      CAPTURE(heads);
      const MultiHeadAttention m = scattered(4, heads, {.bias = true, .is_causal = true});
      Parameters all = m.parameters();
      const Tensor x = random_tensor({2, 3, 4});
      all.push_back({"x", x});
      CHECK(wrong_gradient_of(all, [&] { return m(x, mask); }) == "");
      CHECK(wrong_gradient_of(all, [&] { return m(x, mask, {.need_weights = true}); }) == "");
    }
  }
}

TEST_CASE("the gradients of cross-attention and of one sequence are right", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.d_k = 3, .d_v = 5, .d_context = 3, .bias = true});
  Parameters all = m.parameters();
  const Tensor x = random_tensor({2, 3, 4}, 1), context = random_tensor({2, 5, 3}, 2);
  all.push_back({"x", x});
  all.push_back({"context", context});
  CHECK(wrong_gradient_of(all, [&] { return m.cross_attend(x, context, Mask::padding({5, 2})); }) ==
        "");
  const MultiHeadAttention self = scattered(4, 2, {});
  const Tensor one = random_tensor({3, 4});
  CHECK(wrong_gradient([&](const std::vector<Tensor>& in) { return self(in[0]); }, {one}) == "");
}

TEST_CASE("the gradients of multi-head attention with dropout are right", "[phase2][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.dropout = 0.4});
  const Tensor x = random_tensor({2, 5, 4});
  const auto f = [&] {
    Random random(8);  // the same weights are dropped each time
    return m(x, {}, {.random = &random});
  };
  CHECK(wrong_gradient_of(m.parameters(), f) == "");
}

TEST_CASE("dropout needs a generator and a probability; the same seed drops the same",
          "[phase2][nn]") {
  const Tensor x = random_tensor({2, 9, 8});
  const MultiHeadAttention m = scattered(8, 4, {.dropout = 0.3});
  const MultiHeadAttention none = scattered(8, 4, {});
  Random one(5), same(5), other(6), untouched(5);
  CHECK(same_bits(m(x), none(x)));
  CHECK(same_bits(none(x, {}, {.random = &untouched}), none(x)));
  CHECK(untouched.position() == 0);
  const Tensor dropped = m(x, {}, {.random = &one});
  CHECK_FALSE(same_bits(dropped, m(x)));
  CHECK(same_bits(dropped, m(x, {}, {.random = &same})));
  CHECK_FALSE(same_bits(dropped, m(x, {}, {.random = &other})));
  CHECK_FALSE(same_bits(dropped, m(x, {}, {.random = &one})));  // the generator went on
  CHECK(difference_to(m(x, {}, {.need_weights = true}), m(x), nearly) == "");
  const MultiHeadAttention relative =
      scattered(8, 4, {.dropout = 0.3, .positions = Positions::relative});
  CHECK(same_bits(relative(x), scattered(8, 4, {.positions = Positions::relative})(x)));
  Random again(5), cross(5);
  CHECK(same_bits(m.cross_attend(x, x, {}, {.random = &cross}), m(x, {}, {.random = &again})));
}

TEST_CASE("a cache: piece by piece the same as all at once, for any pieces", "[phase4][nn]") {
  const Tensor x = random_tensor({2, 10, 8});
  for (const bool causal : {true, false}) {
    const MultiHeadAttention m =
        scattered(8, 2, {.d_k = 3, .d_v = 5, .bias = true, .is_causal = causal});
    for (const Index piece : {1, 2, 3, 5, 10}) {
      CAPTURE(causal, piece);
      KeyValueCache cache;
      CHECK(cache.length() == 0);
      for (Index from = 0; from < 10; from += piece) {
        const Index to = std::min<Index>(from + piece, 10);
        const Tensor y = m(slice(x, 1, from, to), {}, {.cache = &cache});
        CHECK(cache.length() == to);
        // Without the causal mask the newest still see all that came before.
        const Tensor whole = m(slice(x, 1, 0, to));
        CHECK(difference_to(y, slice(whole, 1, from, to), nearly) == "");
      }
      CHECK(cache.keys.shape() == Shape{2, 2, 10, 3});
      CHECK(cache.values.shape() == Shape{2, 2, 10, 5});
    }
  }
}

TEST_CASE("copies of a cache are continued differently, and a longer one is cut", "[phase7][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.is_causal = true});
  const Tensor x = random_tensor({1, 200, 4}), other = random_tensor({1, 3, 4});
  KeyValueCache cache;
  m(slice(x, 1, 0, 3), {}, {.cache = &cache});
  m(slice(x, 1, 3, 4), {}, {.cache = &cache});  // now there is room behind it
  KeyValueCache copy = cache;
  m(other, {}, {.cache = &copy});
  const Tensor y = m(slice(x, 1, 4, 200), {}, {.cache = &cache});
  CHECK(difference_to(y, slice(m(x), 1, 4, 200), nearly) == "");
  const Tensor branch = concat({slice(x, 1, 0, 4), other}, 1);
  CHECK(copy.length() == 7);
  CHECK(difference_to(m(other, {}, {.cache = &copy}),
                      slice(m(concat({branch, other}, 1)), 1, 7, 10), nearly) == "");
  cache.keys = slice(cache.keys, 2, 0, 4);
  cache.values = slice(cache.values, 2, 0, 4);
  CHECK(difference_to(m(other, {}, {.cache = &cache}), slice(m(branch), 1, 4, 7), nearly) == "");
}

TEST_CASE("a cache grows without copying all that came before", "[phase7][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.is_causal = true});
  const Tensor x = random_tensor({1, 1, 4});
  KeyValueCache cache;
  std::vector<Index> moved;
  for (Index i = 1; i <= 1000; ++i) {
    const Buffer before = cache.keys.buffer();
    m(x, {}, {.cache = &cache});
    if (!(cache.keys.buffer() == before)) moved.push_back(i);
    CHECK(cache.keys.size(-2) == i);
  }
  // The first, then room for 64, 128, 256, 512 and 1024
  CHECK(moved == std::vector<Index>{1, 2, 65, 129, 257, 513});
}

TEST_CASE("a cache with padding, with a sequence alone, and under a Capture", "[phase4][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.is_causal = true});
  const Tensor x = random_tensor({2, 6, 4});
  const Mask mask = Mask::padding({6, 2});
  KeyValueCache cache, single;
  m(slice(x, 1, 0, 4), Mask::padding({4, 2}), {.cache = &cache});
  const Capture seen;
  const Tensor y = m(slice(x, 1, 4, 6), mask, {.cache = &cache, .need_weights = true});
  CHECK(seen["weights"].shape() == Shape{2, 2, 2, 6});
  CHECK(difference_to(y, slice(m(x, mask), 1, 4, 6), nearly) == "");
  const Tensor one = squeeze(slice(x, 0, 0, 1), 0);
  m(slice(one, 0, 0, 5), {}, {.cache = &single});
  CHECK(single.keys.shape() == Shape{1, 2, 5, 2});
  CHECK(difference_to(m(slice(one, 0, 5, 6), {}, {.cache = &single}), slice(m(one), 0, 5, 6),
                      nearly) == "");
}

TEST_CASE("a cache that does not fit is refused, and stays as it was", "[phase4][nn]") {
  const MultiHeadAttention m = scattered(4, 2, {.is_causal = true});
  KeyValueCache cache;
  m(random_tensor({2, 3, 4}), {}, {.cache = &cache});
  const auto next = [&](const MultiHeadAttention& layer, const Shape& shape, const Mask& mask) {
    return [&, shape, mask] { layer(Tensor::zeros(shape), mask, {.cache = &cache}); };
  };
  CHECK(complaint(next(m, {3, 1, 4}, {}),
                  {"the cache is of a batch of 2, x of one of 3", "empty cache"}) == "");
  KeyValueCache wide;  // of more sequences than heads
  m(random_tensor({5, 3, 4}), {}, {.cache = &wide});
  CHECK(complaint(
            [&] {
              m.cross_attend(Tensor::zeros({5, 3, 4}), Tensor::zeros({5, 3, 4}), {},
                             {.cache = &wide});
            },
            {"cross-attention has no cache"}) == "");
  CHECK(complaint([&] { m(random_tensor({3, 1, 4}), {}, {.cache = &wide}); },
                  {"the cache is of a batch of 5, x of one of 3."}) == "");
  KeyValueCache single;  // of one position
  m(random_tensor({2, 1, 4}), {}, {.cache = &single});
  CHECK(complaint([&] { m(random_tensor({3, 1, 4}), {}, {.cache = &single}); },
                  {"the cache is of a batch of 2, x of one of 3."}) == "");
  CHECK(complaint(next(scattered(4, 4, {}), {2, 1, 4}, {}), {"concat", "(2, 2, 3, 2)"}) == "");
  CHECK(complaint(next(m, {2, 1, 4}, Mask::padding({9, 9})), {"mask", "9 keys", "only 4"}) == "");
  CHECK(complaint(next(m, {2, 1, 5}, {}), {"x is (2, 1, 5)"}) == "");
  CHECK(cache.length() == 3);
  CHECK(cache.values.size(-2) == 3);
}

TEST_CASE("parameters have names, begin by the seed, and biases are optional", "[phase2][nn]") {
  const MultiHeadAttentionOptions options = {.bias = true, .initializer = init::xavier_uniform};
  Random random(1), same(1), other(2);
  const MultiHeadAttention m(8, 2, random, options);
  const std::vector<std::string> expected = {"a.query.weight",  "a.query.bias",   "a.key.weight",
                                             "a.key.bias",      "a.value.weight", "a.value.bias",
                                             "a.output.weight", "a.output.bias"};
  CHECK(names(m.parameters("a.")) == expected);
  CHECK(m.parameters()[0].value.buffer() == m.query.weight.buffer());
  const MultiHeadAttention twin(8, 2, same, options), stranger(8, 2, other, options);
  CHECK(same_bits(m.output.weight, twin.output.weight));
  CHECK_FALSE(same_bits(m.output.weight, stranger.output.weight));
  CHECK_FALSE(same_bits(m.query.weight, m.key.weight));
  CHECK(max(m.query.weight).item() > 0.3);  // Xavier's bound is 0.61; 0.02 normal stays below 0.1
  CHECK(MultiHeadAttention(8, 2, random).parameters().size() == 4);
}

TEST_CASE("multi-head attention says which sizes do not fit", "[phase2][nn]") {
  Random random(1);
  const auto made = [&](Index d_model, Index heads, const MultiHeadAttentionOptions& o = {}) {
    return [&random, d_model, heads, o] { MultiHeadAttention(d_model, heads, random, o); };
  };
  CHECK(complaint(made(64, 5), {"d_model is 64, num_heads is 5 and d_k is 0", "heads must divide",
                                "or d_k must be given"}) == "");
  CHECK(complaint(made(64, 5, {.d_k = 3}), {"d_v is 0", "or d_v must be given"}) == "");
  CHECK(complaint(made(64, 0), {"heads is 0", "at least 1"}) == "");
  CHECK(complaint(made(64, -4), {"heads is -4"}) == "");
  CHECK(complaint(made(0, 1), {"d_model is 0"}) == "");
  CHECK(complaint(made(4, 8), {"heads must divide"}) == "");
  CHECK(complaint(made(4, 2, {.d_k = -1}), {"d_k is -1"}) == "");
  CHECK(complaint(made(4, 2, {.d_v = -1}), {"d_v is -1"}) == "");
  CHECK(complaint(made(4, 2, {.d_context = -1}), {"d_context is -1", "or 0"}) == "");
  for (const double p : {1.0, -0.1, double(NAN)}) {
    CHECK(complaint(made(4, 2, {.dropout = p}), {"dropout is ", "[0, 1)"}) == "");
  }
  MultiHeadAttention(64, 5, random, {.d_k = 3, .d_v = 4});  // fits: no heads to divide
  CHECK(MultiHeadAttention(4, 2, random, {.d_k = 1}).query.weight.shape() == Shape{4, 2});
  const MultiHeadAttention m(4, 2, random, {.d_context = 3});
  const Tensor x = Tensor::zeros({2, 5, 4});
  CHECK(complaint([&] { m.cross_attend(x, x); }, {"context is (2, 5, 4)", "d_context = 3"}) == "");
  CHECK(complaint([&] { m.cross_attend(Tensor::zeros({2, 5, 3}), x); },
                  {"x is (2, 5, 3)", "d_model = 4"}) == "");
  CHECK(complaint([&] { m.cross_attend(x, Tensor::zeros({3, 5, 3})); }, {"leading axes"}) == "");
  const MultiHeadAttention self(4, 2, random);
  CHECK(complaint([&] { self(Tensor::zeros({4})); }, {"x is (4)", "(..., length, d_model)"}) == "");
  CHECK(complaint([&] { self(Tensor::zeros({1, 1, 1, 1, 2, 4})); }, {"at most five axes"}) == "");
  CHECK(complaint([&] { self(x, Mask::padding({5, 5, 5})); }, {"mask", "for 3 sequences"}) == "");
}
