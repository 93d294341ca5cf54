// Splitting rows into heads and joining them again: by an index formula, and without a copy.
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("head h of row i holds the numbers h d to (h + 1) d of that row", "[phase2][attention]") {
  const Tensor x = random_tensor({2, 5, 12});
  for (const Index heads : {1, 2, 3, 4, 12}) {
    CAPTURE(heads);
    const Index d = 12 / heads;
    const std::vector<double> expected = tabulate({2, heads, 5, d}, [&](const Place& at) {
      return element(x, {at[0], at[2], at[1] * d + at[3]});
    });
    const Tensor split = split_heads(x, heads);
    CHECK(difference(split, {2, heads, 5, d}, expected, 0) == "");
    const Tensor back = concat_heads(split);
    CHECK(difference_to(back, x, 0) == "");
    CHECK(split.buffer() == x.buffer());  // a view each: nothing was copied
    CHECK(back.buffer() == x.buffer());
    CHECK(back.is_contiguous());
    CHECK(difference_to(concat_heads(split.clone()), x, 0) == "");
  }
}

TEST_CASE("heads with any leading axes, strided rows, and nothing at all", "[phase2][attention]") {
  for (const Shape& shape : {Shape{5, 6}, Shape{1, 1, 6}, Shape{2, 3, 4, 6}, Shape{2, 1, 3, 4, 6},
                             Shape{0, 6}, Shape{2, 0, 6}, Shape{0, 3, 6}, Shape{3, 0}}) {
    CAPTURE(to_string(shape));
    const Tensor x = random_tensor(shape);
    const Tensor split = split_heads(x, 3);
    CHECK(split.shape() ==
          shape.with(-1, 3).inserted(shape.ndim(), shape[-1] / 3).with(-3, 3).with(-2, shape[-2]));
    CHECK(difference_to(concat_heads(split), x, 0) == "");
  }
  const Tensor turned = transpose(random_tensor({2, 6, 5})), part = slice(turned, -1, 1, 5);
  CHECK(difference_to(split_heads(turned, 2), split_heads(turned.clone(), 2), 0) == "");
  CHECK(difference_to(concat_heads(split_heads(part, 2)), part, 0) == "");
}

TEST_CASE("the wrong order gives the right shapes and other numbers", "[phase2][attention]") {
  const Tensor x = reshape(Tensor::arange(24), {3, 8});  // three words of two heads of four
  const Tensor right = split_heads(x, 2), wrong = reshape(x, {2, 3, 4});
  REQUIRE(wrong.shape() == right.shape());
  CHECK(difference(slice(right, 0, 0, 1), {1, 3, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19}) ==
        "");
  // Head 0 would be all of word 0 and half of word 1.
  CHECK(difference(slice(wrong, 0, 0, 1), {1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) == "");
  CHECK(largest_difference(reshape(right, {3, 8}), x) > 0);  // joined without swapping the axes
}

TEST_CASE("the gradients of splitting and joining heads are right", "[phase2][attention]") {
  const Tensor factors = random_tensor({2, 3, 4, 2}, 7), more = random_tensor({2, 4, 6}, 8);
  const Function f = [&](const std::vector<Tensor>& in) {
    const Tensor split = split_heads(in[0], 3);
    return concat_heads(split * split * factors) * more;
  };
  CHECK(wrong_gradient(f, {random_tensor({2, 4, 6})}) == "");
}

TEST_CASE("heads that do not divide a row are refused", "[phase2][attention]") {
  const Tensor x = Tensor::zeros({2, 5, 12});
  CHECK(complaint([&] { split_heads(x, 5); },
                  {"split_heads: x is (2, 5, 12) and heads is 5", "must divide"}) == "");
  for (const Index heads : {0, -1, 24}) {
    CHECK(complaint([&] { split_heads(x, heads); }, {"heads is ", "must divide"}) == "");
  }
  CHECK(complaint([] { split_heads(Tensor::zeros({12}), 3); }, {"x is (12)", "(..., length"}) ==
        "");
  CHECK(complaint([] { split_heads(Tensor::zeros({1, 1, 1, 1, 1, 6}), 3); },
                  {"7 axes", "at most 6"}) == "");
  CHECK(complaint([] { concat_heads(Tensor::zeros({5, 12})); },
                  {"concat_heads: x is (5, 12)", "(..., heads, length, width)"}) == "");
}
