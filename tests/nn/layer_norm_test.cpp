#include "tapestry/nn/layer_norm.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::vector<double> by_hand(const LayerNorm& norm, const Tensor& x) {
  const Index width = x.size(-1);
  return tabulate(x.shape(), [&](const Place& at) {
    Place place = at;
    double mean = 0, square = 0;
    for (place.back() = 0; place.back() < width; ++place.back()) mean += element(x, place);
    mean /= static_cast<double>(width);
    for (place.back() = 0; place.back() < width; ++place.back()) {
      square += std::pow(element(x, place) - mean, 2);
    }
    const double deviation = std::sqrt(square / static_cast<double>(width) + norm.eps);
    return (element(x, at) - mean) / deviation * element(norm.weight, {at.back()}) +
           element(norm.bias, {at.back()});
  });
}

}  // namespace

TEST_CASE("layer norm begins by bringing rows to mean 0 and variance 1", "[phase2][nn]") {
  const LayerNorm norm(6);
  CHECK(difference(norm.weight, {6}, std::vector<double>(6, 1)) == "");
  CHECK(difference(norm.bias, {6}, std::vector<double>(6, 0)) == "");
  const Tensor y = norm(3 * random_tensor({4, 5, 6}) + 7);
  CHECK(difference(mean(y, -1), {4, 5}, std::vector<double>(20, 0), 1e-5) == "");
  CHECK(difference(var(y, -1), {4, 5}, std::vector<double>(20, 1), 1e-3) == "");
}

TEST_CASE("layer norm is what the formula says, by its own epsilon", "[phase2][nn]") {
  Random random(3);
  for (const double epsilon : {1e-5, 1e-6, 0.5}) {
    for (const Shape& shape : {Shape{7}, Shape{3, 7}, Shape{2, 1, 7}, Shape{0, 7}}) {
      CAPTURE(epsilon, to_string(shape));
      const LayerNorm norm(7, epsilon);
      scatter(norm.parameters(), random);
      const Tensor x = random.normal(shape);
      CHECK(difference(norm(x), shape, by_hand(norm, x), nearly) == "");
    }
  }
  CHECK(difference(LayerNorm(1)(Tensor({2, 1}, {5, -3})), {2, 1}, {0, 0}) == "");
}

TEST_CASE("the gradients of layer norm are right", "[phase2][nn]") {
  Random random(3);
  const LayerNorm norm(5);
  Parameters all = norm.parameters();
  scatter(all, random);
  const Tensor x = random.normal({2, 3, 5});
  all.push_back({"x", x});
  CHECK(wrong_gradient_of(all, [&] { return norm(x); }) == "");
}

TEST_CASE("layer norm names its parameters and says what does not fit", "[phase2][nn]") {
  const LayerNorm norm(4);
  CHECK(names(norm.parameters("norm.")) == std::vector<std::string>{"norm.gain", "norm.bias"});
  CHECK(norm.parameters()[0].value.buffer() == norm.weight.buffer());
  CHECK(norm.parameters()[1].value.buffer() == norm.bias.buffer());
  CHECK(complaint([&] { norm(Tensor::zeros({2, 5})); },
                  {"layer_norm: x is (2, 5), weight is (4)"}) == "");
  CHECK(difference(LayerNorm(1)(Tensor({2, 1}, {3, 4})), {2, 1}, {0, 0}) == "");
  CHECK(complaint([] { LayerNorm(0); }, {"layer norm: width is 0", "at least 1"}) == "");
  for (const double epsilon : {0.0, -1.0, double(NAN), infinity}) {
    CHECK(complaint([=] { LayerNorm(4, epsilon); }, {"eps is ", "above 0"}) == "");
  }
  if (!in_double) CHECK(complaint([] { LayerNorm(4, 1e-60); }, {"eps is "}) == "");
}
