// Dropout.
#include <cmath>
#include <vector>

#include "catch.hpp"
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
      scaled += same_number(value, 1 / (1 - p), tight);
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

TEST_CASE("each element takes one number of the generator, in row-major order", "[phase0][ops]") {
  for (const Index before : {0, 1, 6}) {
    Random random(8, 3), words(8, 3);
    for (Index i = 0; i < before; ++i) random.bits(), words.bits();
    const Tensor x = random_tensor({7, 43});
    std::vector<double> wanted;
    for (const double value : doubles(x)) {
      wanted.push_back(words.bits() < 0x40000000 ? 0 : value / 0.75);
    }
    CHECK(difference(dropout(x, 0.25, random), {7, 43}, wanted) == "");
    CHECK(random.position() == words.position());
    CHECK(random.bits() == words.bits());
  }
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
