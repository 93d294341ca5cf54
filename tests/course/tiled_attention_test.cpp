// Attention by tiles, for steps 6d and 6g: its operands, what queries carry along, the references.
#include "course/tiled_attention.hpp"

#include <cmath>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("operands are always the same, and their tiles are all of their rows",
          "[phase6][course]") {
  const TiledOperands x = draw_tiled(6, 4, 2);
  CHECK(x.tile == 2);
  CHECK(x.tiles() == 3);
  Random random(12);
  CHECK(difference_to(x.q, random.normal({6, 4}) / 2) == "");
  for (const Tensor* drawn : {&x.k, &x.v, &x.d_output}) {
    CHECK(drawn->values() == random.normal({6, 4}).values());
  }
  CHECK(x.rows(x.v, 1).shape() == Shape{2, 4});
  CHECK(concat({x.rows(x.v, 0), x.rows(x.v, 1), x.rows(x.v, 2)}, 0).values() == x.v.values());
}

TEST_CASE("queries that met all keys, some at a time, carry softmax's maximum, sum and mixture",
          "[phase6][course]") {
  const Tensor scores({2, 3}, {1, 3, 7, 90, -2, 100}), v({3, 2}, {10, 1, 20, 2, 30, 3});
  RunningSoftmax now = nothing_met(2, 2);
  CHECK(difference(now.top, {2, 1}, {-infinity, -infinity}) == "");
  meet(now, slice(scores, 1, 0, 2), slice(v, 0, 0, 2));
  CHECK(difference(now.top, {2, 1}, {3, 90}) == "");
  CHECK(difference(now.total, {2, 1}, {1 + std::exp(-2), 1 + std::exp(-92)}) == "");
  meet(now, slice(scores, 1, 2, 3), slice(v, 0, 2, 3));
  CHECK(difference(now.top, {2, 1}, {7, 100}) == "");
  CHECK(difference(now.total, {2, 1}, {1 + std::exp(-4) + std::exp(-6), 1 + std::exp(-10)}) == "");
  CHECK(difference_to(now.mixed / now.total, matmul(softmax(scores), v), 1e-5) == "");
}

TEST_CASE("the references are attention without a further scale, and its gradients",
          "[phase6][course]") {
  const TiledOperands x = draw_tiled(5, 3, 1);
  const Tensor p = softmax(matmul(x.q, transpose(x.k)));  // (5, 5)
  CHECK(difference_to(by_book(x), matmul(p, x.v), 1e-5) == "");
  const OperandGradients found = gradients_by_tape(by_book, x);
  const Tensor dp = matmul(x.d_output, transpose(x.v));  // (5, 5)
  const Tensor ds = p * (dp - sum(p * dp, -1, true));    // (5, 5)
  CHECK(difference_to(found.q, matmul(ds, x.k), 1e-5) == "");
  CHECK(difference_to(found.k, matmul(transpose(ds), x.q), 1e-5) == "");
  CHECK(difference_to(found.v, matmul(transpose(p), x.d_output), 1e-5) == "");
}

TEST_CASE("gradients differ by as much as those of q, of k or of v", "[phase6][course]") {
  const Tensor zero = Tensor::zeros({2}), one({2}, {0, -1});
  const OperandGradients none{zero, zero, zero};
  CHECK(largest_difference(none, none) == 0);
  CHECK(largest_difference(none, {one * 2, one, one}) == 2);
  CHECK(largest_difference(none, {one, one * 3, one}) == 3);
  CHECK(largest_difference({one, one, one * 4}, none) == 4);
}
