// Root mean square normalisation over the last axis.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

std::string wrong_norm(const Tensor& x, const Tensor& weight, double eps) {
  const Index n = x.size(-1);
  const auto expected = [&](const Place& place) {
    Place at = place;
    double squares = 0;
    for (at.back() = 0; at.back() < n; ++at.back()) squares += std::pow(element(x, at), 2);
    return element(x, place) / std::sqrt(squares / double(n) + eps) * element(weight, place);
  };
  return difference(rms_norm(x, weight, eps), x.shape(), tabulate(x.shape(), expected), 10 * tight);
}

const Function normed = [](const std::vector<Tensor>& in) { return rms_norm(in[0], in[1], 0.01); };

}  // namespace

TEST_CASE("rms_norm divides each row by the root of its mean square", "[phase0][ops]") {
  for (const Shape& shape :
       {Shape{1}, Shape{2}, Shape{33}, Shape{3, 7}, Shape{2, 3, 16}, Shape{4, 1}, Shape{0, 3}}) {
    const Index n = shape[-1];
    const Tensor x = 3 + 2 * random_tensor(shape, 1);
    CAPTURE(to_string(shape));
    CHECK(wrong_norm(x, random_tensor({n}, 2), 1e-5) == "");
    CHECK(wrong_norm(x, Tensor::ones({n}), 0.1) == "");
  }
  CHECK(rms_norm(Tensor::zeros({3, 0}), Tensor::zeros({0})).numel() == 0);
  const Tensor x = random_tensor({6, 5, 4});
  CHECK(wrong_norm(transpose(x), Tensor::ones({5}), 1e-5) == "");
  CHECK(wrong_norm(slice(x, 2, 0, 4, 2), slice(random_tensor({4}), 0, 0, 4, 2), 1e-5) == "");
}

TEST_CASE("gradients of rms_norm by x and weight", "[phase0][ops]") {
  for (const Shape& shape : {Shape{1}, Shape{5}, Shape{3, 7}, Shape{2, 3, 4}}) {
    CAPTURE(to_string(shape));
    CHECK(wrong_gradient(normed, {2 * random_tensor(shape, 1), random_tensor({shape[-1]}, 2)}) ==
          "");
  }
  const Function turned = [](const std::vector<Tensor>& in) {
    return rms_norm(transpose(in[0]), in[1]);
  };
  CHECK(wrong_gradient(turned, {random_tensor({3, 4}, 1), random_tensor({3}, 2)}) == "");
  // as many rows as meet in several partial sums of the weight's gradient
  const Tensor x = random_tensor({200, 3}, 1), weight = random_tensor({3}, 2);
  Tape tape({x, weight});
  const Tensor composed =
      x / sqrt(mean(x * x, -1, true) + 1e-5) * weight;  // with its gradient from other operations
  const Gradients expected = tape.backward(sum(composed * composed));
  Tape again({x, weight});
  const Tensor y = rms_norm(x, weight);
  const Gradients gradients = again.backward(sum(y * y));
  CHECK(difference_to(gradients[x], expected[x], 100 * tight) == "");
  CHECK(difference_to(gradients[weight], expected[weight], 100 * tight) == "");
}

TEST_CASE("rms_norm of huge, tiny and missing numbers", "[phase0][ops]") {
  const Tensor ones = Tensor::ones({4});
  const Tensor huge({2, 4}, {1e30, -1e30, 1e30, 1e30, 0, 0, 0, 0});  // squares beyond float
  CHECK(difference(rms_norm(huge, ones), {2, 4}, {1, -1, 1, 1, 0, 0, 0, 0}) == "");
  CHECK(difference(rms_norm(huge, ones, 0), {2, 4}, {1, -1, 1, 1, NAN, NAN, NAN, NAN}) == "");
  const Tensor tiny({4}, {1e-25, 1e-25, -1e-25, 1e-25});  // squares below float
  CHECK(difference(rms_norm(tiny, ones, 0), {4}, {1, 1, -1, 1}) == "");
  const Tensor bad({2, 4}, {1, NAN, 2, 3, 1, 1, 1, 1});
  CHECK(difference(rms_norm(bad, ones, 0), {2, 4}, {NAN, NAN, NAN, NAN, 1, 1, 1, 1}) == "");
  const Tensor infinite({4}, {1, infinity, 2, 3});
  CHECK(difference(rms_norm(infinite, ones), {4}, {0, NAN, 0, 0}) == "");  // x / inf
  const std::vector<double> gradient =
      doubles(slope([&](const Tensor& in) { return rms_norm(in, ones); }, bad));
  CHECK((std::isnan(gradient[0]) && std::isfinite(gradient[4])));
}

TEST_CASE("what rms_norm refuses, it explains", "[phase0][ops]") {
  const Tensor x = Tensor::zeros({2, 3});
  CHECK(complaint([&] { rms_norm(x, Tensor::ones({2})); },
                  {"rms_norm: x is (2, 3), weight is (2)", "as long as x's last"}) == "");
  CHECK(complaint([&] { rms_norm(Tensor(1), Tensor::ones({1})); }, {"rms_norm: x is ()"}) == "");
  CHECK(complaint([&] { rms_norm(x, Tensor::ones({3}), -1); }, {"rms_norm: eps is -1"}) == "");
  CHECK(complaint([&] { rms_norm(x, Tensor::ones({3}), -1e-9); }, {"eps is -1e-09"}) == "");
  CHECK(complaint([&] { rms_norm(x, Tensor::ones({3}), NAN); }, {"rms_norm: eps is"}) == "");
}
