#include "tapestry/nn/rms_norm.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/nn/sequential.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::vector<double> by_hand(const RmsNorm& norm, const Tensor& x) {
  const Index width = x.size(-1);
  return tabulate(x.shape(), [&](const Place& at) {
    Place place = at;
    double square = 0;
    for (place.back() = 0; place.back() < width; ++place.back()) {
      square += std::pow(element(x, place), 2);
    }
    const double root = std::sqrt(square / static_cast<double>(width) + norm.eps);
    return element(x, at) / root * element(norm.weight, {at.back()});
  });
}

}  // namespace

TEST_CASE("RMS norm begins by bringing rows to mean square 1, and keeps their mean",
          "[phase2][nn]") {
  const RmsNorm norm(6);
  CHECK(difference(norm.weight, {6}, std::vector<double>(6, 1)) == "");
  const Tensor y = norm(3 * random_tensor({4, 5, 6}) + 7);
  CHECK(difference(mean(y * y, -1), {4, 5}, std::vector<double>(20, 1), 1e-3) == "");
  CHECK(min(mean(y, -1)).item() > real(0.5));  // LayerNorm makes it 0
}

TEST_CASE("RMS norm is what the formula says, by its own epsilon", "[phase2][nn]") {
  Random random(3);
  for (const double epsilon : {1e-5, 1e-6, 0.5}) {
    for (const Shape& shape : {Shape{7}, Shape{3, 7}, Shape{2, 1, 7}, Shape{0, 7}}) {
      CAPTURE(epsilon, to_string(shape));
      const RmsNorm norm(7, epsilon);
      scatter(norm.parameters(), random);
      const Tensor x = random.normal(shape);
      CHECK(difference(norm(x), shape, by_hand(norm, x), nearly) == "");
    }
  }
  CHECK(difference(RmsNorm(1)(Tensor({3, 1}, {5, -3, 0})), {3, 1}, {1, -1, 0}, 1e-5) == "");
}

TEST_CASE("the gradients of RMS norm are right", "[phase2][nn]") {
  Random random(3);
  const RmsNorm norm(5);
  Parameters all = norm.parameters();
  scatter(all, random);
  const Tensor x = random.normal({2, 3, 5});
  all.push_back({"x", x});
  CHECK(wrong_gradient_of(all, [&] { return norm(x); }) == "");
}

TEST_CASE("RMS norm names its parameter and says what does not fit", "[phase2][nn]") {
  const RmsNorm norm(4);
  CHECK(names(norm.parameters("norm.")) == std::vector<std::string>{"norm.gain"});
  CHECK(norm.parameters()[0].value.buffer() == norm.weight.buffer());
  CHECK(names(Sequential(norm).parameters()) == std::vector<std::string>{"0.gain"});
  CHECK(complaint([&] { norm(Tensor::zeros({2, 5})); }, {"rms_norm: x is (2, 5), weight is (4)"}) ==
        "");
  CHECK(complaint([] { RmsNorm(0); }, {"RMS norm: width is 0", "at least 1"}) == "");
  for (const double epsilon : {0.0, -1.0, double(NAN), infinity}) {
    CHECK(complaint([=] { RmsNorm(4, epsilon); }, {"eps is ", "above 0"}) == "");
  }
  if (!in_double) CHECK(complaint([] { RmsNorm(4, 1e-60); }, {"eps is "}) == "");
}
