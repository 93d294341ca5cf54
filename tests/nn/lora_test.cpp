// A low-rank adapter beside a map, and the map with it: values by plain loops, gradients, errors.
#include "tapestry/nn/lora.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

Lora scattered_lora(Index in, Index out, Index rank, double alpha) {
  Random random(5);
  const Lora layer(in, out, rank, alpha, random);
  scatter(layer.parameters(), random);
  return layer;
}

Linear adapted(Index in, Index out, Index rank, bool bias = true) {
  Random random(6);
  Linear map(in, out, random, {.bias = bias});
  map.adapter = scattered_lora(in, out, rank, 3);
  return map;
}

// scale sum_r sum_c x[c] A[c, r] B[r, column], for a row of x (rows, in).
double by_hand(const Lora& layer, double scale, const Tensor& x, Index row, Index column) {
  double sum = 0;
  for (Index r = 0; r < layer.down.size(1); ++r) {
    for (Index c = 0; c < x.size(-1); ++c) {
      sum += element(x, {row, c}) * element(layer.down, {c, r}) * element(layer.up, {r, column});
    }
  }
  return scale * sum;
}

}  // namespace

TEST_CASE("a low-rank adapter is alpha / rank times x A B", "[phase7][nn]") {
  for (const Index rank : {1, 2, 3}) {
    CAPTURE(rank);
    const Lora layer = scattered_lora(3, 5, rank, 6);
    CHECK(layer.rank() == rank);
    CHECK(layer.scale() == 6.0 / static_cast<double>(rank));
    const Tensor x = random_tensor({4, 3});
    CHECK(difference(layer(x), {4, 5}, tabulate({4, 5}, [&](const Place& at) {
                       return by_hand(layer, 6.0 / static_cast<double>(rank), x, at[0], at[1]);
                     })) == "");
    CHECK(difference_to(matmul(x, layer.change()), layer(x)) == "");
  }
}

TEST_CASE("an adapter begins as a change of nothing, with the scale 1 if alpha is not said",
          "[phase7][nn]") {
  Random random(1), same(1);
  const Lora layer(4, 6, 2, 0, random);
  CHECK(layer.scale() == 1);
  CHECK(same_bits(layer.down, init::lecun_normal({4, 2}, same)));
  CHECK(same_bits(layer.up, Tensor::zeros({2, 6})));
  CHECK(same_bits(layer.change(), Tensor::zeros({4, 6})));
  CHECK(names(layer.parameters("a.")) == std::vector<std::string>{"a.down", "a.up"});
  CHECK(layer.num_parameters() == 2 * (4 + 6));
}

TEST_CASE("an adapter takes x of any leading axes, also of none and of no rows", "[phase7][nn]") {
  const Linear map = adapted(3, 5, 2);
  for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{0, 3}, Shape{2, 0, 3}, Shape{2, 1, 3}}) {
    CAPTURE(to_string(shape));
    const Tensor x = random_tensor(shape);
    const Shape rows{x.numel() / 3, 3};
    const Tensor expected = map(reshape(x, rows));
    CHECK(map(x).shape() == shape.with(-1, 5));
    CHECK(map(x).values() == expected.values());
    CHECK((*map.adapter)(x).shape() == shape.with(-1, 5));
  }
  CHECK(adapted(1, 1, 1)(Tensor::zeros({2, 1})).shape() == Shape{2, 1});
}

TEST_CASE("a map with an adapter is the map of their sum, activation last", "[phase7][nn]") {
  const Tensor x = random_tensor({4, 3});
  for (const bool bias : {true, false}) {
    const Linear map = adapted(3, 5, 2, bias);
    const Tensor sum = matmul(x, map.weight + 1.5 * matmul(map.adapter->down, map.adapter->up));
    const Tensor y = bias ? sum + map.bias : sum;
    CHECK(difference_to(map(x), y) == "");
    CHECK(difference_to(map(x, Activation::relu), relu(y)) == "");
    CHECK(difference_to(map(x, Activation::gelu), gelu(y)) == "");
    CHECK(difference_to(map(x, Activation::gelu_tanh), gelu_tanh(y)) == "");
    CHECK(difference_to(map(x, Activation::silu), silu(y)) == "");
    Linear one = map;
    one.weight = map.merged();
    one.adapter.reset();
    CHECK(difference_to(one(x), y) == "");
    CHECK(same_bits(one.merged(), one.weight));
    CHECK(map.adapter);  // a copy was changed
  }
}

TEST_CASE("an adapter of zeros changes no bit, whatever the activation", "[phase7][nn]") {
  Random random(2);
  const Linear plain(17, 9, random);
  scatter(plain.parameters(), random);
  Linear map = plain;
  map.adapter.emplace(17, 9, 3, 0, random);
  const Tensor x = random_tensor({6, 17});
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu,
                                      Activation::gelu_tanh, Activation::silu}) {
    CAPTURE(int(activation));
    CHECK(same_bits(map(x, activation), plain(x, activation)));
  }
}

TEST_CASE("the gradients of a map with an adapter are right, those of its own weight, too",
          "[phase7][nn]") {
  Linear map = adapted(3, 4, 2);
  for (const Activation activation :
       {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    CAPTURE(int(activation));
    const Function f = [&](const std::vector<Tensor>& in) {
      map.weight = in[1], map.bias = in[2];
      map.adapter->down = in[3], map.adapter->up = in[4];
      return map(in[0], activation);
    };
    CHECK(wrong_gradient(f, {random_tensor({5, 3}), random_tensor({3, 4}, 2), random_tensor({4}, 3),
                             random_tensor({3, 2}, 4), random_tensor({2, 4}, 5)}) == "");
    CHECK(wrong_gradient(f, {random_tensor({3}), random_tensor({3, 4}, 2), random_tensor({4}, 3),
                             random_tensor({3, 2}, 4), random_tensor({2, 4}, 5)}) == "");
  }
}

TEST_CASE("a map names its adapter's tensors only if it has one", "[phase7][nn]") {
  Linear map = adapted(3, 4, 2);
  CHECK(names(map.parameters("m.")) ==
        std::vector<std::string>{"m.weight", "m.bias", "m.adapter.down", "m.adapter.up"});
  map.adapter.reset();
  CHECK(names(map.parameters("m.")) == std::vector<std::string>{"m.weight", "m.bias"});
}

TEST_CASE("a low-rank adapter says what is wrong with its rank and alpha", "[phase7][nn]") {
  Random random(1);
  const auto made = [&](Index rank, double alpha) {
    return [&random, rank, alpha] { Lora(4, 6, rank, alpha, random); };
  };
  CHECK(complaint(made(0, 1), {"low rank: the rank is 0", "(4, 6)", "1 to 4"}) == "");
  CHECK(complaint(made(5, 1), {"the rank is 5", "1 to 4"}) == "");
  CHECK(complaint([&] { Lora(6, 4, 5, 1, random); }, {"(6, 4)", "1 to 4"}) == "");
  CHECK(complaint(made(2, -1), {"alpha is -1", "above 0"}) == "");
  CHECK(complaint(made(2, std::nan("")), {"alpha is nan"}) == "");
  CHECK(complaint(made(2, std::numeric_limits<double>::infinity()), {"alpha is inf"}) == "");
  CHECK(Lora(4, 6, 4, 1, random).rank() == 4);
  CHECK(complaint([] { scattered_lora(4, 6, 2, 1)(Tensor::zeros({2, 3})); }, {"x is (2, 3)"}) ==
        "");
}
