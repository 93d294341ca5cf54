// Layer normalisation over the last axis.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::string wrong_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  const Index n = x.size(-1);
  return difference(layer_norm(x, gain, bias, epsilon), x.shape(),
                    tabulate(x.shape(),
                             [&](const Place& place) {
                               Place at = place;
                               double mean = 0, variance = 0;
                               for (at.back() = 0; at.back() < n; ++at.back())
                                 mean += element(x, at) / double(n);
                               for (at.back() = 0; at.back() < n; ++at.back()) {
                                 variance += std::pow(element(x, at) - mean, 2) / double(n);
                               }
                               return (element(x, place) - mean) / std::sqrt(variance + epsilon) *
                                          element(gain, place) +
                                      element(bias, place);
                             }),
                    10 * tight);
}

}  // namespace

TEST_CASE("layer_norm centres and scales each row", "[phase0][ops]") {
  for (const Shape& shape :
       {Shape{1}, Shape{2}, Shape{33}, Shape{3, 7}, Shape{2, 3, 16}, Shape{4, 1}, Shape{0, 3}}) {
    const Index n = shape[-1];
    const Tensor x = 3 + 2 * random_tensor(shape, 1);
    CAPTURE(to_string(shape));
    CHECK(wrong_norm(x, random_tensor({n}, 2), random_tensor({n}, 3), 1e-5) == "");
    CHECK(wrong_norm(x, Tensor::ones({n}), Tensor::zeros({n}), 0.1) == "");
  }
  CHECK(layer_norm(Tensor::zeros({3, 0}), Tensor::zeros({0}), Tensor::zeros({0})).numel() == 0);
}

TEST_CASE("layer_norm reads strided views", "[phase0][ops]") {
  const Tensor x = random_tensor({6, 5, 4}), gains = random_tensor({4, 6});
  CHECK(wrong_norm(transpose(x), Tensor::ones({5}), Tensor::zeros({5}), 1e-5) == "");
  CHECK(wrong_norm(slice(x, 2, 0, 4, 2),
                   slice(slice(gains, 1, 2, 3), 0, 0, 2).as_strided({2}, {6}, 2), Tensor::ones({2}),
                   1e-5) == "");
}

TEST_CASE("gradients of layer_norm by x, gain and bias", "[phase0][ops]") {
  const Function f = [](const std::vector<Tensor>& in) {
    return layer_norm(in[0], in[1], in[2], 0.01);
  };
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{2, 3, 4}}) {
    const Index n = shape[-1];
    CAPTURE(to_string(shape));
    CHECK(wrong_gradient(f, {2 * random_tensor(shape, 1), random_tensor({n}, 2),
                             random_tensor({n}, 3)}) == "");
  }
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& in) {
              return layer_norm(slice(transpose(in[0]), 1, 0, 6, 2), in[1], 0 * in[1], 0.01);
            },
            {2 * random_tensor({6, 4}), random_tensor({3})}) == "");
}

TEST_CASE("layer_norm saves what its gradients need, and no more", "[phase0][ops]") {
  const Tensor x = random_tensor({2, 3, 5}), gain = random_tensor({5}), bias = random_tensor({5});
  Tape tape({x});
  layer_norm(x, gain, bias);
  CHECK(tape.entries().back().saved_bytes == (30 + 5 + 6 * 3) * sizeof(real));  // 3 for each row
}

TEST_CASE("a row of equal numbers becomes the bias", "[phase0][ops]") {
  const Tensor x = Tensor::full({2, 9}, 1e3), gain = random_tensor({9}, 1),
               bias = random_tensor({9}, 2);
  CHECK(difference_to(layer_norm(x, gain, bias), expand(bias, {2, 9})) == "");
}

TEST_CASE("layer_norm of rows far from 0 keeps its mean at 0", "[phase0][ops]") {
  const Tensor x = random_tensor({1, 64}, 2) + 1e4;
  const Tensor y = layer_norm(x, Tensor::ones({64}), Tensor::zeros({64}));
  CHECK(std::abs(mean(y).item()) < 1e-6);
  CHECK(wrong_norm(x, random_tensor({64}, 3), random_tensor({64}, 4), 1e-5) == "");
}

TEST_CASE("a row with NaN or infinity is NaN, and no other", "[phase0][ops]") {
  for (const double bad : {double{NAN}, infinity, -infinity}) {
    Tensor x = random_tensor({3, 11});
    x.set({1, 10}, bad);
    const std::vector<double> y = doubles(layer_norm(x, Tensor::ones({11}), Tensor::zeros({11})));
    bool only_there = true;
    for (std::size_t i = 0; i < y.size(); ++i) only_there &= std::isnan(y[i]) == (i / 11 == 1);
    CHECK(only_there);
  }
}

TEST_CASE("gain and bias that do not fit are refused in words", "[phase0][ops]") {
  const Tensor x = Tensor::zeros({2, 3}), three = Tensor::ones({3}), four = Tensor::ones({4});
  CHECK(complaint([&] { layer_norm(x, four, four); },
                  {"layer_norm: x is (2, 3), weight is (4), bias is (4)", "as long as x's last"}) ==
        "");
  CHECK(complaint([&] { layer_norm(x, three, four); }, {"bias is (4)"}) == "");
  CHECK(complaint([&] { layer_norm(x, x, x); }, {"weight is (2, 3)"}) == "");
  CHECK(complaint([&] { layer_norm(Tensor(1), three, three); }, {"x is ()"}) == "");
}

TEST_CASE("an epsilon that makes no sense is refused, and 0 is the plain formula",
          "[phase0][ops]") {
  const Tensor x({1, 2}, {1, 3}), gain = Tensor::ones({2}), bias = Tensor::zeros({2});
  for (const double epsilon : {-1.0, -1e-300, double{NAN}, infinity}) {
    CHECK(complaint([&] { layer_norm(x, gain, bias, epsilon); },
                    {"layer_norm: eps is ", "0 or more"}) == "");
  }
  CHECK(difference(layer_norm(x, gain, bias, 0), {1, 2}, {-1, 1}) == "");
  CHECK(std::isnan(layer_norm(Tensor::ones({1, 2}), gain, bias, 0).at({0, 0})));
}
