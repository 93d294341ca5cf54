// Dropout.
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "kernels/philox.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("dropout zeroes with probability p and keeps the mean", "[phase0][ops]") {
  constexpr int count = 40'000;
  for (const double p : {0.1, 0.5, 0.9}) {
    Random random(1);
    const std::vector<double> y = doubles(dropout(Tensor::ones({200, 200}), p, random));
    int dropped = 0, scaled = 0;
    for (const double value : y) {
      dropped += value == 0;
      scaled += same_number(value, 1 / (1 - std::round(p * 0x1p16) / 0x1p16), tight);
    }
    CAPTURE(p);
    CHECK(dropped + scaled == count);
    CHECK(std::abs(dropped - count * p) < 4 * std::sqrt(count * p * (1 - p)));
  }
}

TEST_CASE("the same seed drops the same elements, the next call others", "[phase0][ops]") {
  const Tensor x = random_tensor({9, 11});
  Random one(5), same(5), other(6);
  const Tensor first = dropout(x, 0.5, one);
  CHECK(largest_difference(first, dropout(x, 0.5, same)) == 0);
  CHECK(largest_difference(first, dropout(x, 0.5, one)) > 0);
  CHECK(largest_difference(first, dropout(x, 0.5, other)) > 0);
}

TEST_CASE("dropout follows the places of a view, not of its numbers", "[phase0][ops]") {
  const Tensor x = random_tensor({4, 6});
  Random one(5), same(5);
  CHECK(largest_difference(dropout(transpose(x), 0.4, one),
                           dropout(transpose(x).clone(), 0.4, same)) == 0);
}

TEST_CASE("dropout draws whole groups, and leaves the generator behind them", "[phase0][ops]") {
  for (const Index before : {0, 1, 31, 32, 33}) {
    for (const Index size : {1, 64, 65, 300}) {
      Random random(8, 3);
      random.seek(static_cast<std::uint64_t>(before));
      const Index group = (before + 31) / 32, groups = (size + 63) / 64;  // of 32 words
      std::vector<double> wanted(static_cast<std::size_t>(size));
      for (Index i = 0; i < size; ++i) {
        const Index block = (group + i / 64) * 8 + i % 16 / 2;
        const auto words = kernels::philox(static_cast<std::uint64_t>(block), 3, 8, 7);
        const std::uint32_t word = words[static_cast<std::size_t>(i % 2 * 2 + i / 32 % 2)];
        const std::uint32_t bits = (i / 16 % 2 == 0 ? word : word >> 16) & 0xFFFF;
        wanted[static_cast<std::size_t>(i)] = (bits ^ 0x8000) < 0x4000 ? 0 : 1 / 0.75;
      }
      CAPTURE(before, size);
      CHECK(difference(dropout(Tensor::ones({size}), 0.25, random), {size}, wanted) == "");
      CHECK(random.position() == static_cast<std::uint64_t>(32 * (group + groups)));
    }
  }
}

TEST_CASE("elements are dropped independently of each other", "[phase0][ops]") {
  constexpr Index groups = 5000, size = 64;
  Random random(4);
  const std::vector<double> y = doubles(dropout(Tensor::ones({groups, size}), 0.25, random));
  const auto at = [&](Index i, Index j) { return y[static_cast<std::size_t>(i * size + j)] == 0; };
  const auto near = [](Index count, double p) {
    const auto n = static_cast<double>(groups);
    return std::abs(static_cast<double>(count) - n * p) < 6 * std::sqrt(n * p * (1 - p));
  };
  for (Index j = 0; j < size; ++j) {
    for (Index k = 0; k <= j; ++k) {
      Index both = 0, next = 0;  // in one group, and in two that follow each other
      for (Index i = 0; i + 1 < groups; ++i) {
        both += at(i, j) && at(i, k);
        next += at(i, j) && at(i + 1, k);
      }
      CAPTURE(j, k);
      REQUIRE(near(both, j == k ? 0.25 : 0.25 * 0.25));
      REQUIRE(near(next, 0.25 * 0.25));
    }
  }
}

TEST_CASE("p counts in steps of 2^-16, and the scale belongs to that step", "[phase0][ops]") {
  Random random(1);
  const Tensor x = Tensor::ones({1 << 18});
  const auto largest = [&](double p) { return max(dropout(x, p, random)).item(); };
  const auto one_step = static_cast<real>(1 / (1 - 0x1p-16));
  CHECK(largest(0x1p-16) == one_step);
  CHECK(largest(1.4 * 0x1p-16) == one_step);
  CHECK(largest(0.4 * 0x1p-16) == 1);
  CHECK(largest(1 - 0x1p-16) == 0x1p16);
  CHECK(largest(1 - 0x1p-40) == 0x1p16);  // never all
}

TEST_CASE("dropout saves nothing but where the generator stood", "[phase0][ops]") {
  const Tensor x = random_tensor({5, 7});
  Random random(3);
  Tape tape({x});
  dropout(x, 0.3, random);
  CHECK(tape.entries().back().operation == "dropout");
  CHECK(tape.entries().back().saved_bytes == 0);
}

TEST_CASE("p = 0 is the identity and draws nothing", "[phase0][ops]") {
  const Tensor x = random_tensor({3, 4});
  Random random(1);
  CHECK(largest_difference(dropout(x, 0, random), x) == 0);
  CHECK(random.position() == 0);
  CHECK(dropout(Tensor::zeros({0, 3}), 0.5, random).shape() == Shape{0, 3});
}

TEST_CASE("the gradient of dropout is its mask", "[phase0][ops]") {
  Random forward(3), again(3);
  const Tensor x = random_tensor({5, 7});
  const Tensor gradient = slope([&](const Tensor& t) { return dropout(t, 0.3, forward); }, x);
  CHECK(largest_difference(gradient, dropout(Tensor::ones({5, 7}), 0.3, again)) == 0);
  CHECK(wrong_gradient(
            [](const std::vector<Tensor>& in) {
              Random same_each_time(3);
              return dropout(transpose(in[0]), 0.3, same_each_time);
            },
            {x}) == "");
}

TEST_CASE("a p that is no probability of dropping is refused", "[phase0][ops]") {
  Random random(1);
  for (const double p : {-0.1, 1.0, 2.0, double{NAN}}) {
    CHECK(complaint([&] { dropout(Tensor(1), p, random); }, {"dropout: p is ", "[0, 1)"}) == "");
  }
  CHECK(complaint([&] { dropout(Tensor(1), -1e-9, random); }, {"dropout: p is -1e-09,"}) == "");
}
