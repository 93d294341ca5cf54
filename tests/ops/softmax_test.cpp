// softmax, log_softmax and logsumexp along any axis.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// log sum exp of the row of x that runs through `place` along `axis`
double log_sum_through(const Tensor& x, Place place, std::size_t axis) {
  double largest = -infinity, sum = 0;
  for (place[axis] = 0; place[axis] < x.shape().begin()[axis]; ++place[axis]) {
    largest = std::max(largest, element(x, place));
  }
  for (place[axis] = 0; place[axis] < x.shape().begin()[axis]; ++place[axis]) {
    sum += std::exp(element(x, place) - largest);
  }
  return largest + std::log(sum);
}

// What is wrong with any of the three along this axis.
std::string wrong_along(const Tensor& x, int axis) {
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + x.ndim() : axis);
  const Shape kept = x.shape().with(axis, 1);
  const std::vector<double> log_sums =
      tabulate(kept, [&](const Place& p) { return log_sum_through(x, p, at); });
  const std::vector<double> logs = tabulate(
      x.shape(), [&](const Place& p) { return element(x, p) - log_sum_through(x, p, at); });
  std::vector<double> shares;
  for (const double value : logs) shares.push_back(std::exp(value));
  return difference(softmax(x, axis), x.shape(), shares) +
         difference(log_softmax(x, axis), x.shape(), logs, 3 * tight) +
         difference(logsumexp(x, axis, true), kept, log_sums) +
         difference(logsumexp(x, axis), kept.removed(axis), log_sums);
}

}  // namespace

TEST_CASE("softmax and its relatives along every axis", "[phase0][ops]") {
  for (const Shape& shape :
       {Shape{1}, Shape{37}, Shape{3, 5}, Shape{2, 3, 17}, Shape{4, 1, 2, 3}}) {
    const Tensor x = 3 * random_tensor(shape);
    for (int axis = -shape.ndim(); axis < shape.ndim(); ++axis) {
      CAPTURE(to_string(shape), axis);
      CHECK(wrong_along(x, axis) == "");
    }
  }
}

TEST_CASE("softmax reads strided views", "[phase0][ops]") {
  const Tensor x = 3 * random_tensor({4, 5, 6});
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(wrong_along(transpose(x), axis) == "");
    CHECK(wrong_along(slice(permute(x, {2, 0, 1}), 0, 0, 6, 2), axis) == "");
    CHECK(wrong_along(expand(slice(x, 1, 0, 1), {4, 3, 6}), axis) == "");
  }
}

TEST_CASE("gradients of softmax and its relatives along every axis", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 4, 5});
  for (int axis = -1; axis < 3; ++axis) {
    const std::vector<std::function<Tensor(const Tensor&)>> functions = {
        [&](const Tensor& t) { return softmax(t, axis); },
        [&](const Tensor& t) { return log_softmax(t, axis); },
        [&](const Tensor& t) { return logsumexp(t, axis); },
        [&](const Tensor& t) { return logsumexp(transpose(t), axis, true); },
        [&](const Tensor& t) { return softmax(slice(transpose(t, 0, 2), 1, 0, 4, 2), axis); },
    };
    for (std::size_t i = 0; i < functions.size(); ++i) {
      CAPTURE(axis, i);
      CHECK(wrong_gradient([&](const std::vector<Tensor>& in) { return functions[i](in[0]); },
                           {x}) == "");
    }
  }
}

TEST_CASE("softmax neither overflows nor underflows", "[phase0][ops]") {
  const Tensor x({2, 3}, {1000, 1001, 999, -1e5, -1e5, 1e5});
  const double total = 1 + std::exp(-1.0) + std::exp(-2.0);
  CHECK(difference(softmax(x), {2, 3},
                   {std::exp(-1.0) / total, 1 / total, std::exp(-2.0) / total, 0, 0, 1}) == "");
  CHECK(difference(log_softmax(x), {2, 3},
                   {-1 - std::log(total), -std::log(total), -2 - std::log(total), -2e5, -2e5, 0}) ==
        "");
  CHECK(difference(logsumexp(x), {2}, {1001 + std::log(total), 1e5}) == "");
}

TEST_CASE("minus infinity takes no share; a row of nothing else is zeros", "[phase0][ops]") {
  for (const Index n : {1, 3, 21}) {
    Tensor x = Tensor::full({2, n}, -infinity);
    x.set({0, n - 1}, 5);
    std::vector<double> one(static_cast<std::size_t>(2 * n), 0), logs(one.size(), -infinity);
    one[static_cast<std::size_t>(n) - 1] = 1;
    logs[static_cast<std::size_t>(n) - 1] = 0;
    CAPTURE(n);
    CHECK(difference(softmax(x), {2, n}, one) == "");
    CHECK(difference(softmax(transpose(x), 0), {n, 2}, doubles(transpose(Tensor(softmax(x))))) ==
          "");
    CHECK(difference(log_softmax(x), {2, n}, logs) == "");
    CHECK(difference(logsumexp(x), {2}, {5, -infinity}) == "");
    const Tensor weights = random_tensor({2, n});
    const std::vector<double> nothing(one.size(), 0);
    CHECK(difference(slope([&](const Tensor& t) { return softmax(t) * weights; }, x), {2, n},
                     nothing) == "");
    CHECK(difference(slope([](const Tensor& t) { return logsumexp(t); }, x), {2, n}, one) == "");
    const std::vector<double> logs_slope =
        doubles(slope([&](const Tensor& t) { return log_softmax(t) * weights; }, x));
    for (std::size_t i = logs_slope.size() / 2; i < logs_slope.size(); ++i) {
      CHECK(logs_slope[i] == 0);
    }
  }
}

TEST_CASE("NaN and plus infinity make the row NaN, and no other", "[phase0][ops]") {
  for (const double bad : {double{NAN}, infinity}) {
    for (const Index place : {0, 9, 18}) {
      Tensor x = Tensor::zeros({3, 19});
      x.set({1, place}, bad);
      CAPTURE(bad, place);
      for (const auto f : {softmax, log_softmax}) {
        const std::vector<double> y = doubles(f(x, -1));
        bool only_there = true;
        for (std::size_t i = 0; i < y.size(); ++i) only_there &= std::isnan(y[i]) == (i / 19 == 1);
        CHECK(only_there);
      }
      CHECK(difference(logsumexp(x), {3}, {std::log(19.0), bad, std::log(19.0)}) == "");
    }
  }
}

TEST_CASE("softmax of nothing", "[phase0][ops]") {
  CHECK(softmax(Tensor::zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(log_softmax(Tensor::zeros({0, 3}), 0).shape() == Shape{0, 3});
  CHECK(difference(logsumexp(Tensor::zeros({2, 0})), {2}, {-infinity, -infinity}) == "");
  CHECK(slope([](const Tensor& t) { return softmax(t); }, Tensor::zeros({0, 3})).numel() == 0);
}

TEST_CASE("softmax without such an axis is refused in words", "[phase0][ops]") {
  CHECK(complaint([] { softmax(Tensor(1)); }, {"softmax: axis -1", "none"}) == "");
  CHECK(complaint([] { log_softmax(Tensor::zeros({2}), 1); }, {"log_softmax: axis 1"}) == "");
  CHECK(complaint([] { logsumexp(Tensor::zeros({2}), -2); }, {"logsumexp: axis -2"}) == "");
}
