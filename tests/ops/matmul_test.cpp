// The matrix product: batched, broadcast, on strided operands, and its gradients.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// c[..., i, j] = sum over l of a[..., i, l] * b[..., l, j], in double
std::string wrong_product(const Tensor& a, const Tensor& b, double tolerance = 10 * tight) {
  const Shape batch = broadcast_shapes("test", a.shape().removed(-1).removed(-1),
                                       b.shape().removed(-1).removed(-1));
  const Shape shape =
      batch.inserted(batch.ndim(), a.size(-2)).inserted(batch.ndim() + 1, b.size(-1));
  const Index k = a.size(-1);
  return difference(matmul(a, b), shape,
                    tabulate(shape,
                             [&](const Place& place) {
                               Place left = place, right = place;
                               double sum = 0;
                               for (Index l = 0; l < k; ++l) {
                                 left.back() = l;
                                 right[right.size() - 2] = l;
                                 sum += element(a, left) * element(b, right);
                               }
                               return sum;
                             }),
                    tolerance);
}

const Function product = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };

}  // namespace

TEST_CASE("matmul multiplies matrices of any size, also empty ones", "[phase0][ops]") {
  for (const Index m : {0, 1, 2, 7, 17}) {
    for (const Index k : {0, 1, 3, 8, 33}) {
      for (const Index n : {0, 1, 5, 16, 31}) {
        CAPTURE(m, k, n);
        CHECK(wrong_product(random_tensor({m, k}, 1), random_tensor({k, n}, 2)) == "");
      }
    }
  }
  CHECK(wrong_product(random_tensor({67, 301}, 1), random_tensor({301, 130}, 2), 50 * tight) == "");
}

TEST_CASE("matmul broadcasts leading axes both ways", "[phase0][ops]") {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3, 4}, {2, 4, 5}},
      {{2, 3, 4}, {4, 5}},
      {{3, 4}, {2, 4, 5}},
      {{2, 1, 3, 4}, {5, 4, 2}},
      {{1, 3, 4}, {6, 4, 1}},
      {{5, 1, 1, 2}, {3, 2, 4}},
      {{2, 3, 2, 4}, {4, 5}},
      {{2, 1, 2, 4}, {1, 3, 4, 5}},
      {{0, 3, 4}, {4, 5}},
      {{2, 0, 4}, {4, 5}},
      {{2, 3, 0}, {0, 5}},
      {{2, 3, 4}, {4, 0}},
      {{2, 3, 0}, {2, 0, 5}},
      {{1, 1}, {1, 1}},
      {{2, 1, 1, 1, 3, 2}, {3, 1, 1, 2, 2}},
  };
  for (const auto& [first, second] : shapes) {
    CAPTURE(to_string(first), to_string(second));
    const Tensor a = random_tensor(first, 1), b = random_tensor(second, 2);
    CHECK(wrong_product(a, b) == "");
    CHECK(wrong_gradient(product, {a, b}) == "");
  }
}

TEST_CASE("matmul reads transposed, sliced, permuted and expanded operands", "[phase0][ops]") {
  const Tensor a = random_tensor({5, 7}, 1), b = random_tensor({7, 6}, 2);
  const Tensor c = random_tensor({6, 7}, 3), d = random_tensor({5, 6}, 4);
  CHECK(wrong_product(a, transpose(c)) == "");
  CHECK(wrong_product(transpose(d), a) == "");
  CHECK(wrong_product(transpose(a), transpose(transpose(d))) == "");
  CHECK(wrong_product(transpose(a), transpose(random_tensor({3, 5}))) == "");
  CHECK(wrong_product(slice(a, 1, 0, 7, 2), slice(b, 0, 1, 5)) == "");
  CHECK(wrong_product(slice(transpose(a), 0, 1, 6, 2), slice(d, 1, 0, 6, 3)) == "");
  CHECK(wrong_product(expand(slice(a, 0, 2, 3), {4, 7}), b) == "");
  CHECK(wrong_product(expand(a, {3, 5, 7}), expand(slice(b, 1, 0, 1), {7, 9})) == "");
  const Tensor q = random_tensor({2, 5, 12}, 5), k = random_tensor({2, 7, 12}, 6);  // split heads
  const Tensor heads_q = permute(reshape(q, {2, 5, 3, 4}), {0, 2, 1, 3});
  const Tensor heads_k = permute(reshape(k, {2, 7, 3, 4}), {0, 2, 1, 3});
  CHECK(wrong_product(heads_q, transpose(heads_k)) == "");
}

TEST_CASE("gradients of matmul through strided operands", "[phase0][ops]") {
  const Tensor a = random_tensor({3, 4, 5}, 1), b = random_tensor({2, 4}, 2);
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& x) {
              return matmul(slice(transpose(x[0]), 1, 0, 5, 2), transpose(x[1]));
            },
            {a, b}) == "");
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& x) {
              return matmul(permute(x[0], {2, 0, 1}), expand(transpose(x[1]), {5, 4, 2}));
            },
            {a, b}) == "");
  CHECK(wrong_gradient([](const std::vector<Tensor>& x) { return transpose(matmul(x[0], x[0])); },
                       {random_tensor({2, 3, 3})}) == "");
}

TEST_CASE("NaN and infinities go through every product they meet", "[phase0][ops]") {
  Tensor a = Tensor::ones({3, 40}), b = Tensor::ones({40, 20});
  a.set({1, 17}, NAN);
  b.set({3, 5}, 0);
  const std::vector<double> c = doubles(matmul(a, b));
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(std::isnan(c[i]) == (i / 20 == 1));
  a.set({1, 17}, 1);
  a.set({2, 3}, infinity);
  CHECK(matmul(a, b).at({2, 4}) == infinity);
  CHECK(std::isnan(matmul(a, b).at({2, 5})));  // infinity * 0
  CHECK(matmul(a, b).at({1, 5}) == 39);
}

TEST_CASE("matrices that do not fit are explained", "[phase0][ops]") {
  const auto product_of = [](const Shape& a, const Shape& b) {
    return [a, b] { matmul(Tensor::zeros(a), Tensor::zeros(b)); };
  };
  CHECK(complaint(product_of({2, 3}, {4, 3}),
                  {"matmul: a is (2, 3), b is (4, 3): a's columns (3) must equal b's rows (4). "
                   "Did you mean transpose(b)?"}) == "");
  CHECK(complaint(product_of({4, 2}, {4, 3}),
                  {"a's columns (2) must equal b's rows (4). Did you mean transpose(a)?"}) == "");
  for (const Shape& a : {Shape{3, 2}, Shape{4, 2}, Shape{2, 5}, Shape{5, 2}}) {
    for (const Shape& b : {Shape{4, 3}, Shape{6, 2}, Shape{7, 9, 5}, Shape{2, 4, 6}}) {
      const bool right = a[-1] == b[-1], left = !right && a[-2] == b[-2];
      if (a[-1] == b[-2]) continue;
      std::string message;
      try {
        matmul(Tensor::zeros(a), Tensor::zeros(b));
      } catch (const Error& error) {
        message = error.what();
      }
      CAPTURE(message);
      CHECK((message.find("transpose(b)") != std::string::npos) == right);
      CHECK((message.find("transpose(a)") != std::string::npos) == left);
    }
  }
  CHECK(complaint(product_of({3}, {3, 2}),
                  {"a is (3)", "at least two axes", "unsqueeze(a, 0), a row"}) == "");
  CHECK(complaint(product_of({2, 3}, {3}),
                  {"b is (3)", "at least two axes", "unsqueeze(b, -1), a col"}) == "");
  CHECK(complaint(product_of({}, {3, 2}), {"a is ()"}) == "");
  CHECK(complaint(product_of({2, 3, 4}, {5, 4, 6}), {"matmul", "leading axes", "2 and 5"}) == "");
}

TEST_CASE("matmul saves only what the gradients that are wanted need", "[phase0][ops]") {
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 5}, 2);
  const auto saved = [&](const std::vector<Tensor>& watched) {
    Tape tape(watched);
    matmul(a, b);
    return tape.entries().back().saved_bytes;
  };
  CHECK(saved({a}) == b.buffer().bytes());
  CHECK(saved({b}) == a.buffer().bytes());
  CHECK(saved({a, b}) == a.buffer().bytes() + b.buffer().bytes());
}

TEST_CASE("the gradient of a matrix that all batches share takes no memory for each",
          "[phase0][ops]") {
  const Tensor x = random_tensor({50, 3, 40}, 1), w = random_tensor({40, 30}, 2);
  const auto peak = [&](const Function& f) {
    Tape tape({w});
    const Tensor y = f({x, w}), dy = Tensor::ones(y.shape());
    return peak_memory_of([&] { (void)tape.backward(y, dy)[w]; });
  };
  const std::size_t few = 20 * w.buffer().bytes();  // of 50 batches
  CHECK(peak(product) < few);
  CHECK(peak([](const std::vector<Tensor>& in) { return linear(in[0], in[1], Tensor()); }) < few);
}

namespace {

const Activation activations[] = {Activation::none, Activation::relu, Activation::gelu,
                                  Activation::gelu_tanh, Activation::silu};

Tensor in_turn(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  const Tensor c = bias.defined() ? matmul(x, weight) + bias : matmul(x, weight);
  Tensor (*const functions[])(const Tensor&) = {nullptr, relu, gelu, gelu_tanh, silu};
  return activation == Activation::none ? c : functions[static_cast<std::size_t>(activation)](c);
}

}  // namespace

TEST_CASE("linear gives the numbers of matmul, + and the activation", "[phase0][ops]") {
  for (const Shape& shape : {Shape{5, 7}, Shape{1, 7}, Shape{2, 3, 7}, Shape{0, 7}, Shape{65, 7}}) {
    for (const Index out : {0, 1, 4, 17, 65}) {
      const Tensor x = random_tensor(shape, 1), weight = random_tensor({7, out}, 2);
      for (const Tensor& bias : {random_tensor({out}, 3), Tensor()}) {
        for (const Activation activation : activations) {
          CAPTURE(to_string(shape), out, bias.defined(), int(activation));
          const Tensor want = in_turn(x, weight, bias, activation);
          const Tensor y = linear(x, weight, bias, activation);
          CHECK(y.shape() == want.shape());
          CHECK(y.values() == want.values());
          const Tape tape({weight});
          CHECK(linear(x, weight, bias, activation).values() == want.values());
        }
      }
    }
  }
  const Tensor x = random_tensor({6, 4}, 1), bias = slice(random_tensor({8}), 0, 0, 8, 2);
  CHECK(difference_to(linear(transpose(x), x, bias, Activation::gelu),
                      gelu(matmul(transpose(x), x) + bias)) == "");  // strided operands
  CHECK(linear(random_tensor({3}), random_tensor({3, 2}), random_tensor({2})).shape() == Shape{2});
  CHECK(linear(Tensor::zeros({2, 0}), Tensor::zeros({0, 3}), Tensor::ones({3})).values() ==
        Tensor::ones({2, 3}).values());
}

TEST_CASE("gradients of linear by x, weight and bias", "[phase0][ops]") {
  for (const Activation activation : activations) {
    const Function with_bias = [=](const std::vector<Tensor>& in) {
      return linear(in[0], in[1], in[2], activation);
    };
    const Function without = [=](const std::vector<Tensor>& in) {
      return linear(in[0], in[1], Tensor(), activation);
    };
    for (const Shape& shape : {Shape{3}, Shape{5, 3}, Shape{2, 4, 3}}) {
      const Tensor x = random_between(shape, 0.5, 1.5, 1);  // far from the kink of relu
      const Tensor w = random_between({3, 4}, 0.5, 1.5, 2) * Tensor({4}, {1, -1, 1, -1});
      CAPTURE(int(activation), to_string(shape));
      CHECK(wrong_gradient(with_bias, {x, w, random_between({4}, -0.1, 0.1)}) == "");
      CHECK(wrong_gradient(without, {x, w}) == "");
    }
    CHECK(wrong_gradient(
              [=](const std::vector<Tensor>& in) {
                return linear(transpose(in[0]), transpose(in[0]), slice(in[1], 0, 0, 6, 2),
                              activation);
              },
              {random_tensor({3, 3}), random_tensor({6})}) == "");
  }
}

TEST_CASE("linear saves what its gradients need, and no more", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 4}, 1), w = random_tensor({4, 5}, 2), b = random_tensor({5});
  const std::size_t sx = x.buffer().bytes(), sw = w.buffer().bytes();
  const auto saved = [&](const std::vector<Tensor>& watched, Activation activation) {
    Tape tape(watched);
    linear(x, w, b, activation);
    return tape.entries().back().saved_bytes;
  };
  const std::size_t sy = Tensor::zeros({3, 5}).buffer().bytes();
  CHECK(saved({x}, Activation::none) == sw);
  CHECK(saved({w}, Activation::none) == sx);
  CHECK(saved({b}, Activation::none) == 0);
  CHECK(saved({x, w, b}, Activation::relu) == sx + sw + sy);
  for (const Activation a : {Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    CHECK(saved({x, w, b}, a) == sx + sw + sy);
  }
}

TEST_CASE("NaN and infinity go through linear", "[phase0][ops]") {
  Tensor x = Tensor::ones({3, 20}), bias = Tensor::zeros({18});
  x.set({1, 19}, NAN);
  bias.set({2}, -infinity);
  for (const Activation activation : activations) {
    const std::vector<double> y = doubles(linear(x, Tensor::ones({20, 18}), bias, activation));
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == (i / 18 == 1));
    CHECK(y[2] == (activation == Activation::none ? -infinity : 0));
    CHECK(std::abs(y[3] - 20) < 1e-5);
  }
}

TEST_CASE("operands that do not fit linear are explained", "[phase0][ops]") {
  const auto call = [](const Shape& x, const Shape& weight, const Shape& bias) {
    return [=] { linear(Tensor::zeros(x), Tensor::zeros(weight), Tensor::zeros(bias)); };
  };
  CHECK(complaint(call({2, 3}, {4, 3}, {3}), {"linear: x is (2, 3), weight is (4, 3)",
                                              "last axis must equal the weight's rows (4)"}) == "");
  CHECK(complaint(call({}, {4, 3}, {3}), {"linear: x is ()"}) == "");
  CHECK(complaint(call({2, 4}, {4}, {3}), {"weight is (4)", "two axes"}) == "");
  CHECK(complaint(call({2, 4}, {4, 3}, {4}),
                  {"bias is (4)", "as long as the weight has columns (3)"}) == "");
  CHECK(complaint(call({2, 4}, {4, 3}, {1, 3}), {"bias is (1, 3)"}) == "");
}
