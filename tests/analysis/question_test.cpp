#include "tapestry/analysis/question.hpp"

#include <cmath>

#include "analysis/one_text.hpp"
#include "catch.hpp"
#include "nn/architectures.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("an answer is a logarithm of a probability, or a difference of logits",
          "[phase7][analysis]") {
  const Tensor logits({2, 2, 3}, {0, 0, 0, 1, 2, 3, 5, 5, 5, 3, 1, 0});  // (batch, length, vocab)
  const double total = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
  const Tensor last = answer(logits, {.token = 1});
  REQUIRE(last.shape() == Shape{2});
  CHECK(double{last.at({0})} == Approx(2 - std::log(total)));
  CHECK(double{answer(logits, {.position = 0, .token = 2}).at({1})} == Approx(-std::log(3.0)));
  const Tensor apart = answer(logits, {.position = -1, .token = 0, .against = 2});
  CHECK(double{apart.at({0})} == -2);
  CHECK(double{apart.at({1})} == 3);
  CHECK(double{answer(logits, {.position = -2, .token = 0, .against = 0}).at({0})} == 0);
}

TEST_CASE("the likeliest token is the first of the largest", "[phase7][analysis]") {
  const Tensor logits({2, 3}, {7, 1, 7, 0, -1, 0.5});
  CHECK(likeliest_token(logits, 0) == 0);
  CHECK(likeliest_token(logits) == 2);
  CHECK(likeliest_token(logits, -2) == 0);
}

TEST_CASE("one text has one token or more, and no other text beside it", "[phase7][analysis]") {
  const Transformer model = scattered(tiny());
  CHECK(one_text("a", model, Indices({1}, {3})).shape == Shape{1, 1});
  CHECK(one_text("a", model, Indices({1, 3}, {3, 4, 5})).values ==
        std::vector<std::int32_t>{3, 4, 5});
  for (const Indices& ids : {Indices({2, 1}, {1, 2}), Indices({1, 1, 1}, {1}), Indices({}, {1}),
                             Indices({0}, {}), Indices({1, 0}, {})}) {
    CHECK(complaint([&] { (void)one_text("a", model, ids); }, {"a: ids are ", "one token"}) == "");
  }
  Indices broken({2}, {1, 2});
  broken.values.pop_back();
  CHECK(complaint([&] { (void)one_text("a", model, broken); }, {"a: "}) == "");
  CHECK(position_in("a", {.position = 0}, 4) == 0);
  CHECK(position_in("a", {.position = 3}, 4) == 3);
  CHECK(position_in("a", {.position = -1}, 4) == 3);
  CHECK(position_in("a", {.position = -4}, 4) == 0);
  for (const Index wrong : {4, -5}) {
    CHECK(complaint([&] { (void)position_in("a", {.position = wrong}, 4); },
                    {"a: there is no position ", "0 to 3."}) == "");
  }
}

TEST_CASE("questions about what is not there are refused", "[phase7][analysis]") {
  const Tensor logits = Tensor::zeros({4, 3});
  CHECK(complaint([&] { (void)answer(logits, {.position = 4}); }, {"no position 4", "0 to 3"}) ==
        "");
  CHECK(complaint([&] { (void)answer(logits, {.position = -5}); }, {"no position -5"}) == "");
  CHECK(complaint([&] { (void)answer(logits, {.token = 3}); }, {"no token 3", "0 to 2"}) == "");
  CHECK(complaint([&] { (void)answer(logits, {.token = -1}); }, {"no token -1"}) == "");
  CHECK(complaint([&] { (void)answer(logits, {.token = 0, .against = 3}); }, {"token 3"}) == "");
  CHECK(complaint([&] { (void)answer(Tensor::zeros({3}), {}); }, {"(3)", "length"}) == "");
  CHECK(complaint([&] { (void)likeliest_token(logits, 9); }, {"no position 9"}) == "");
}
