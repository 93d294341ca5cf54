// What real models change in attention: windows, rotary positions of a part of a head, and biases
// of some maps only.
#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// Row by row: the pairs of the first `width` numbers of each head, rotated.
Tensor turned(const Tensor& x, Index heads, const RotaryOptions& rotary) {
  const Index d_k = x.size(-1) / heads, width = rotary.width == 0 ? d_k : rotary.width;
  const auto values = tabulate(x.shape(), [&](const Place& at) {
    const Index head = at[2] / d_k * d_k, i = at[2] % d_k, half = width / 2;
    if (i >= width) return element(x, at);
    const bool pairs = rotary.layout == RotaryLayout::interleaved;
    const bool is_first = pairs ? i % 2 == 0 : i < half;
    const Index pair = pairs ? i / 2 : i % half;
    const Index other = pairs ? i + (is_first ? 1 : -1) : i + (is_first ? half : -half);
    const double angle = static_cast<double>(at[1]) /
                         std::pow(rotary.base, 2.0 * double(pair) / static_cast<double>(width));
    const double partner = element(x, {at[0], at[1], head + other});
    return element(x, at) * std::cos(angle) + (is_first ? -1 : 1) * partner * std::sin(angle);
  });
  return Tensor(x.shape(), std::vector<real>(values.begin(), values.end()));
}

// The output of the layer, from operations.
Tensor written_out(const MultiHeadAttention& m, const Tensor& x, const Mask& mask) {
  const auto map = [&](const Linear& linear) {
    const Tensor y = matmul(x, linear.weight);
    return linear.bias.defined() ? y + linear.bias : y;
  };
  const Index groups = m.num_key_value_heads;
  const bool turns = m.positions == Positions::rotary;
  const auto heads_of = [&](const Linear& linear, Index heads) {
    return split_heads(turns ? turned(map(linear), heads, m.rotary) : map(linear), heads);
  };
  const Tensor q = heads_of(m.query, m.num_heads);       // (batch, heads, length, d_k)
  const Tensor k = m.by_heads(heads_of(m.key, groups));  // (batch, heads, length, d_k)
  const Tensor v = m.by_heads(split_heads(map(m.value), groups));
  const Tensor y = concat_heads(attention(q, k, v, mask, 0, nullptr, {}, m.scores).output);
  const Tensor out = matmul(y, m.output.weight);
  return m.output.bias.defined() ? out + m.output.bias : out;
}

const RotaryOptions rotaries[] = {{},
                                  {.base = 100},
                                  {.width = 2},
                                  {.base = 50, .width = 4},
                                  {.layout = RotaryLayout::interleaved},
                                  {.base = 7, .width = 4, .layout = RotaryLayout::interleaved}};

}  // namespace

TEST_CASE("rotary positions turn a part of each head, with any base and both layouts",
          "[phase7][nn]") {
  const Tensor x = random_tensor({2, 7, 5});
  for (const RotaryOptions& rotary : rotaries) {
    for (const Index groups : {4, 2, 1}) {
      CAPTURE(rotary.base, rotary.width, int(rotary.layout), groups);
      const MultiHeadAttention m = scattered(5, 4,
                                             {.d_k = 6,
                                              .d_v = 6,
                                              .num_key_value_heads = groups,
                                              .bias = true,
                                              .is_causal = true,
                                              .positions = Positions::rotary,
                                              .rotary = rotary});
      CHECK(difference_to(m(x), written_out(m, x, Mask::causal()), nearly) == "");
      KeyValueCache cache;
      std::vector<Tensor> parts;
      for (Index i = 0; i < 7; i += 3) {
        parts.push_back(m(slice(x, 1, i, std::min<Index>(i + 3, 7)), {}, {.cache = &cache}));
      }
      CHECK(difference_to(concat(parts, 1), m(x), nearly) == "");
    }
  }
}

TEST_CASE("a window counts the position itself", "[phase7][nn]") {
  const Tensor x = random_tensor({2, 9, 8});
  for (const bool causal : {true, false}) {
    for (const Index window : {1, 2, 4, 9, 100}) {
      CAPTURE(causal, window);
      const MultiHeadAttention m =
          scattered(8, 2, {.is_causal = causal, .window = window, .scores = {.scale = 1}});
      const auto seen = tabulate({9, 9}, [&](const Place& at) {
        const Index back = at[0] - at[1];
        return double(back < window && -back < (causal ? 1 : window));
      });
      const Mask mask = Mask::from(MaskEncoding::keep,
                                   Tensor({9, 9}, std::vector<real>(seen.begin(), seen.end())));
      CHECK(difference_to(m(x), written_out(m, x, mask), nearly) == "");
      CHECK(difference_to(m(x, {}, {.need_weights = true}), m(x), nearly) == "");
      if (window == 1) CHECK(difference_to(m(x), m.output(m.value(x)), nearly) == "");
    }
  }
}

TEST_CASE("a window moves on with a cache, one position or several at a time", "[phase7][nn]") {
  const Tensor x = random_tensor({2, 9, 8});
  for (const Index window : {1, 2, 4}) {
    const MultiHeadAttention m =
        scattered(8, 2, {.is_causal = true, .window = window, .positions = Positions::rotary});
    for (const Index piece : {1, 2, 5}) {
      KeyValueCache cache;
      std::vector<Tensor> parts;
      for (Index i = 0; i < 9; i += piece) {
        parts.push_back(m(slice(x, 1, i, std::min<Index>(i + piece, 9)), {}, {.cache = &cache}));
      }
      CHECK(difference_to(concat(parts, 1), m(x), nearly) == "");
    }
  }
}

TEST_CASE("the output map has a bias of its own choice", "[phase7][nn]") {
  for (const bool bias : {true, false}) {
    for (const bool output_bias : {true, false}) {
      const MultiHeadAttention m = scattered(6, 2, {.bias = bias, .output_bias = output_bias});
      CHECK(m.query.bias.defined() == bias);
      CHECK(m.key.bias.defined() == bias);
      CHECK(m.value.bias.defined() == bias);
      CHECK(m.output.bias.defined() == output_bias);
      const Tensor x = random_tensor({1, 4, 6});
      CHECK(difference_to(m(x), written_out(m, x, {}), nearly) == "");
    }
  }
}

TEST_CASE("the gradients of attention with these options are right", "[phase7][nn]") {
  for (const RotaryOptions& rotary : rotaries) {
    CAPTURE(rotary.base, rotary.width, int(rotary.layout));
    const MultiHeadAttention m = scattered(4, 2,
                                           {.d_k = 6,
                                            .d_v = 6,
                                            .num_key_value_heads = 1,
                                            .bias = true,
                                            .output_bias = false,
                                            .is_causal = true,
                                            .window = 2,
                                            .scores = {.scale = 1},
                                            .positions = Positions::rotary,
                                            .rotary = rotary});
    const Tensor x = random_tensor({1, 4, 4});
    Parameters all = m.parameters();
    all.push_back({"x", x});
    CHECK(wrong_gradient_of(all, [&] { return m(x); }) == "");
  }
}

TEST_CASE("attention says which windows and rotary positions cannot be", "[phase7][nn]") {
  Random random(1);
  const auto made = [&](const MultiHeadAttentionOptions& o) {
    return [&random, o] { MultiHeadAttention(8, 2, random, o); };
  };
  const auto rotary = [&](const RotaryOptions& o) {
    return made({.positions = Positions::rotary, .rotary = o});
  };
  CHECK(complaint(made({.window = -1}), {"window is -1", "at least 1, or 0"}) == "");
  CHECK(complaint(rotary({.width = 3}), {"d_k is 4", "width is 3", "even"}) == "");
  CHECK(complaint(rotary({.width = 6}), {"d_k is 4", "width is 6", "at most d_k"}) == "");
  CHECK(complaint(rotary({.width = -2}), {"width is -2"}) == "");
  rotary({.base = 0.5})();  // turns faster
  CHECK(complaint(rotary({.base = 0}), {"rotary base is 0", "above 0"}) == "");
  CHECK(complaint(rotary({.base = NAN}), {"rotary base is nan"}) == "");
  for (const RotaryOptions& o :
       {RotaryOptions{.base = 50}, {.width = 2}, {.layout = RotaryLayout::interleaved}}) {
    CHECK(complaint(made({.rotary = o}), {"rotary options are given", "Positions::rotary"}) == "");
    CHECK(complaint(made({.positions = Positions::alibi, .rotary = o}), {"not rotary"}) == "");
  }
  const MultiHeadAttention m(8, 2, random, {.window = 2});
  const Tensor x = random_tensor({3, 8});
  CHECK(complaint([&] { m.cross_attend(x, x); }, {"cross-attention", "has a window"}) == "");
  CHECK(complaint([&] { m.head(0); }, {"one head alone", "has a window"}) == "");
}
