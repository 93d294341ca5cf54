#include "tapestry/accuracy.hpp"

#include <cmath>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

using Ids = std::vector<std::int32_t>;

TEST_CASE("predicted_classes tells the place of the greatest along the last axis", "[phase1]") {
  const Indices two = predicted_classes(Tensor({2, 3}, {1, 5, 2, -1, -3, -2}));
  CHECK(two.shape == Shape{2});
  CHECK(two.values == Ids{1, 0});
  const Indices turned =
      predicted_classes(transpose(Tensor({2, 3}, {1, 5, 2, -1, -3, 2.5})));  // a view
  CHECK(turned.shape == Shape{3});
  CHECK(turned.values == Ids{0, 0, 1});
  const Indices one = predicted_classes(Tensor({4}, {0, 1, 2, 3}));
  CHECK(one.shape == Shape{});
  CHECK(one.values == Ids{3});
  CHECK(predicted_classes(Tensor::zeros({2, 1, 7})).shape == Shape{2, 1});
  CHECK(predicted_classes(Tensor::zeros({0, 3})).values.empty());
  CHECK(predicted_classes(Tensor::zeros({2, 0})).values == Ids{-1, -1});
  CHECK(complaint([] { predicted_classes(Tensor(1)); },
                  {"predicted_classes: logits are ()", "no axis of classes"}) == "");
}

TEST_CASE("of equal numbers predicted_classes takes the first, and with NaN none", "[phase1]") {
  const auto place = [](double a, double b, double c) {
    return predicted_classes(Tensor({3}, {a, b, c})).values[0];
  };
  CHECK(place(1, 1, 0) == 0);
  CHECK(place(0, 1, 1) == 1);
  CHECK(place(-infinity, -infinity, -infinity) == 0);
  CHECK(place(-infinity, 3, infinity) == 2);
  for (int at = 0; at < 3; ++at) {
    CAPTURE(at);
    CHECK(place(at == 0 ? NAN : 1, at == 1 ? NAN : 2, at == 2 ? NAN : 3) == -1);
  }
}

TEST_CASE("accuracy is the share of targets that are said, for any shape", "[phase1]") {
  const Tensor logits({5, 3}, {3, 1, 2, 0, 5, 4, 0, 1, 2, 9, 9, 9, 1, 2, NAN});  // 0 1 2 0 none
  CHECK(accuracy(logits, Indices({5}, {0, 1, 2, 0, 1})) == 0.8);
  CHECK(accuracy(logits, Indices({5}, {1, 1, 2, 2, 2})) == 0.4);
  CHECK(accuracy(logits, Indices({5}, {0, -1, 1, -100, -1})) == 0.5);
  CHECK(accuracy(logits, Indices({5}, Ids(5, -1))) == 0);
  CHECK(accuracy(Tensor::zeros({0, 3}), Indices({0}, {})) == 0);
  CHECK(accuracy(Tensor({3}, {1, 3, 2}), Indices({}, {1})) == 1);
  CHECK(accuracy(reshape(slice(logits, 0, 0, 4), {2, 2, 3}), Indices({2, 2}, {0, 1, 0, 0})) ==
        0.75);
}

TEST_CASE("accuracy refuses what does not belong together", "[phase1]") {
  CHECK(complaint([] { accuracy(Tensor::zeros({2, 3}), Indices({3}, Ids(3))); },
                  {"accuracy: logits are (2, 3), targets are (3)", "last axis of classes"}) == "");
  CHECK(complaint([] { accuracy(Tensor(1), Indices({}, {0})); }, {"logits are ()"}) == "");
  CHECK(complaint([] { accuracy(Tensor::zeros({2, 3}), Indices({2}, {0, 3})); },
                  {"target 3 at place 1 is not one of the 3 classes"}) == "");
  Indices changed({2}, {0, 1});
  changed.values.resize(100000);
  CHECK(complaint([&] { accuracy(Tensor::zeros({2, 3}), changed); },
                  {"accuracy: 100000 values do not fill shape (2)"}) == "");
}
