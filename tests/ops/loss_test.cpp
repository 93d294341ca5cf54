// cross_entropy, binary_cross_entropy and mse.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// Mean of -log(exp(logit of the target) / sum of exp), over rows with a target of 0 or more.
double cross_entropy_by_hand(const std::vector<double>& logits,
                             const std::vector<std::int32_t>& targets) {
  const std::size_t classes = logits.size() / targets.size();
  double total = 0, counted = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(logits[row * classes + c]);
    total -= logits[row * classes + static_cast<std::size_t>(targets[row])] - std::log(sum);
    counted += 1;
  }
  return counted == 0 ? 0 : total / counted;
}

}  // namespace

TEST_CASE("cross_entropy is the mean of -log of the target's share", "[phase0][ops]") {
  for (const Index classes : {1, 2, 5, 37}) {
    const Tensor logits = random_tensor({2, 3, classes});
    std::vector<std::int32_t> numbers;
    for (Index i = 0; i < 6; ++i) numbers.push_back(static_cast<std::int32_t>(i % classes));
    const Indices targets({2, 3}, numbers);
    CAPTURE(classes);
    CHECK(difference(cross_entropy(logits, targets), Shape{},
                     {cross_entropy_by_hand(doubles(logits), numbers)}) == "");
    CHECK(
        wrong_gradient([&](const std::vector<Tensor>& in) { return cross_entropy(in[0], targets); },
                       {logits}) == "");
  }
  CHECK(difference(cross_entropy(Tensor({2}, {0, 0}), Indices({}, {1})), Shape{},
                   {std::log(2.0)}) == "");
}

TEST_CASE("negative targets are ignored", "[phase0][ops]") {
  Tensor logits = random_tensor({5, 4});
  const Indices targets({5}, {1, -1, 3, -100, 0});
  logits.set({1, 2}, NAN);  // an ignored row may hold anything
  logits.set({3, 0}, infinity);
  CHECK(difference(cross_entropy(logits, targets), Shape{},
                   {cross_entropy_by_hand(doubles(logits), targets.values)}) == "");
  const std::vector<double> gradient =
      doubles(slope([&](const Tensor& t) { return cross_entropy(t, targets); }, logits));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (i / 4 == 1 || i / 4 == 3) {
      CHECK(gradient[i] == 0);
    } else {
      CHECK(gradient[i] != 0);
    }
  }
  CHECK(wrong_gradient([&](const std::vector<Tensor>& in) { return cross_entropy(in[0], targets); },
                       {random_tensor({5, 4})}) == "");
}

TEST_CASE("if all targets are ignored, loss and gradient are 0", "[phase0][ops]") {
  const Tensor logits({2, 3}, {1, 2, 3, NAN, 5, 6});
  const Indices targets({2}, {-1, -1});
  CHECK(cross_entropy(logits, targets).item() == 0);
  CHECK(difference(slope([&](const Tensor& t) { return cross_entropy(t, targets); }, logits),
                   {2, 3}, std::vector<double>(6, 0)) == "");
  CHECK(cross_entropy(Tensor::zeros({0, 3}), Indices({0}, {})).item() == 0);
}

TEST_CASE("cross_entropy is exact where the softmax under- and overflows", "[phase0][ops]") {
  const Tensor logits({3, 2}, {0, 1000, 1000, 0, -infinity, 3});
  CHECK(difference(cross_entropy(logits, Indices({3}, {1, 0, 1})), Shape{}, {0}) == "");
  CHECK(difference(cross_entropy(logits, Indices({3}, {0, -1, -1})), Shape{}, {1000}) == "");
  CHECK(cross_entropy(logits, Indices({3}, {-1, -1, 0})).item() == infinity);
  CHECK(std::isnan(cross_entropy(Tensor({1, 2}, {NAN, 1}), Indices({1}, {1})).item()));
}

TEST_CASE("cross_entropy reads strided logits", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 5});
  const Indices targets({5}, {3, 1, 0, 2, 3});
  CHECK(largest_difference(cross_entropy(transpose(x), targets),
                           cross_entropy(transpose(x).clone(), targets)) == 0);
  CHECK(wrong_gradient(
            [&](const std::vector<Tensor>& in) { return cross_entropy(transpose(in[0]), targets); },
            {x}) == "");
}

TEST_CASE("targets that are no class, or not one per row, are refused", "[phase0][ops]") {
  const Tensor logits = Tensor::zeros({2, 3});
  CHECK(complaint([&] { cross_entropy(logits, Indices({2}, {0, 3})); },
                  {"cross_entropy: target 3 at place 1", "3 classes (0 to 2)", "negative"}) == "");
  CHECK(complaint([&] { cross_entropy(logits, Indices({2}, {4, 0})); },
                  {"target 4 at place 0 is not"}) == "");
  CHECK(complaint([&] { cross_entropy(logits, Indices({3}, {0, 1, 2})); },
                  {"cross_entropy: logits are (2, 3), targets are (3)", "axis of classes"}) == "");
  CHECK(complaint([&] { cross_entropy(Tensor(1), Indices({}, {0})); }, {"logits are ()"}) == "");
}

namespace {

// By its definition, with the probability itself: right for moderate logits.
double binary_by_hand(const std::vector<double>& logits, const std::vector<double>& targets) {
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double p = 1 / (1 + std::exp(-logits[i]));
    total -= targets[i] * std::log(p) + (1 - targets[i]) * std::log(1 - p);
  }
  return total / static_cast<double>(logits.size());
}

double binary(double logit, double target) {
  return double{binary_cross_entropy_with_logits(Tensor(logit), Tensor(target)).item()};
}

double binary_slope(double logit, double target) {
  const auto loss = [&](const Tensor& x) {
    return binary_cross_entropy_with_logits(x, Tensor(target));
  };
  return double{slope(loss, Tensor(logit)).item()};
}

}  // namespace

TEST_CASE("binary_cross_entropy is the mean of -log of what was promised", "[phase0][ops]") {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 1, 5}, Shape{64, 33}}) {
    CAPTURE(to_string(shape));
    const Tensor logits = random_tensor(shape), soft = random_between(shape, 0, 1, 2);
    const Tensor hard = random_tensor(shape, 3);
    for (Index i = 0; i < hard.numel(); ++i) hard.data()[i] = hard.data()[i] > 0 ? 1 : 0;
    for (const Tensor& targets : {soft, hard}) {
      CHECK(difference(binary_cross_entropy_with_logits(logits, targets), Shape{},
                       {binary_by_hand(doubles(logits), doubles(targets))}) == "");
      CHECK(wrong_gradient(
                [&](const std::vector<Tensor>& in) {
                  return binary_cross_entropy_with_logits(in[0], targets);
                },
                {logits}) == "");
    }
    const Tensor inside = random_between(shape, 0.2, 0.8, 4);  // differences stay in [0, 1]
    CHECK(wrong_gradient(
              [&](const std::vector<Tensor>& in) {
                return binary_cross_entropy_with_logits(3 * in[0], in[1]);
              },
              {logits, inside}) == "");
  }
  CHECK(binary(0, 0.3) == Approx(std::log(2.0)));
  CHECK(binary_cross_entropy_with_logits(Tensor::zeros({0, 2}), Tensor::zeros({0, 2})).item() == 0);
  const Tensor x = random_tensor({4, 5}), t = random_between({5, 4}, 0, 1, 2);
  CHECK(largest_difference(binary_cross_entropy_with_logits(transpose(x), t),
                           binary_cross_entropy_with_logits(transpose(x).clone(), t)) == 0);
}

TEST_CASE("binary_cross_entropy is exact for extreme logits", "[phase0][ops]") {
  CHECK(binary(1000, 1) == 0);
  CHECK(binary(-1000, 0) == 0);
  CHECK(binary(1000, 0) == 1000);
  CHECK(binary(-1000, 1) == 1000);
  CHECK(binary(1000, 0.25) == 750);
  CHECK(binary(20, 1) == Approx(2.0611536e-9).epsilon(1e-6));  // log1p(exp(-20))
  CHECK(binary(-20, 0) == Approx(2.0611536e-9).epsilon(1e-6));
  CHECK(binary(infinity, 1) == 0);
  CHECK(binary(-infinity, 0) == 0);
  CHECK(binary(infinity, 0) == infinity);
  CHECK(binary(-infinity, 1) == infinity);
  CHECK(binary_slope(1000, 1) == 0);
  CHECK(binary_slope(1000, 0) == 1);
  CHECK(binary_slope(-1000, 1) == -1);
  CHECK(binary_slope(infinity, 1) == 0);
  for (const double target : {0.0, 0.5, 1.0}) {
    CHECK(std::isnan(binary(NAN, target)));
    CHECK(std::isnan(binary_slope(NAN, target)));
  }
}

TEST_CASE("binary_cross_entropy refuses what is no share, and other shapes", "[phase0][ops]") {
  const auto with = [](double target) {
    return [target] {
      binary_cross_entropy_with_logits(Tensor::zeros({3}), Tensor({3}, {0, target, 1}));
    };
  };
  CHECK(complaint(with(1.5), {"binary_cross_entropy: target 1.5", "at place 1", "0 (no) to 1"}) ==
        "");
  CHECK(complaint(with(-0x1p-40), {"target -9.09494701772928", "e-13 at place 1"}) == "");
  CHECK(complaint(with(-1e-3), {"target -0.001", "place 1"}) == "");
  CHECK(complaint(with(NAN), {"target nan at place 1"}) == "");
  CHECK(
      complaint([] { binary_cross_entropy_with_logits(Tensor::zeros({4}), Tensor::zeros({4, 1})); },
                {"binary_cross_entropy: logits are (4), targets are (4, 1)", "equal"}) == "");
}

TEST_CASE("mse is the mean squared difference", "[phase0][ops]") {
  const Tensor a = random_tensor({3, 7}, 1), b = random_tensor({3, 7}, 2);
  double total = 0;
  for (std::size_t i = 0; i < 21; ++i) total += std::pow(doubles(a)[i] - doubles(b)[i], 2);
  CHECK(difference(mse(a, b), Shape{}, {total / 21}) == "");
  CHECK(mse(a, a).item() == 0);
  CHECK(wrong_gradient([](const std::vector<Tensor>& in) { return mse(in[0], transpose(in[1])); },
                       {a, random_tensor({7, 3}, 3)}) == "");
  CHECK(std::isnan(mse(Tensor({2}, {1, NAN}), Tensor({2}, {1, 1})).item()));
  CHECK(complaint([&] { mse(a, Tensor::zeros({7})); },
                  {"mse: prediction is (3, 7), target is (7)", "equal"}) == "");
}
