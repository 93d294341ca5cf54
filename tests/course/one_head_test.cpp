// The model of step 14.
#include "course/one_head.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/analysis/evidence.hpp"

using namespace tapestry;

TEST_CASE("one head is its formula, and the same when it is read from its file",
          "[phase1][course]") {
  Random random(3);
  const OneHead model(11, random);
  CHECK(model.positions.shape() == Shape{6, 64});
  CHECK(spread(model.words).deviation == Approx(0.1).epsilon(0.1));
  CHECK(spread(model.w_v).deviation == Approx(0.125).epsilon(0.1));
  const Indices ids({2, 6}, {0, 1, 2, 3, 4, 5, 10, 9, 8, 7, 6, 5});
  const Tensor x = embedding(model.words, ids) + model.positions;  // (2, 6, 64)
  const Tensor scores = matmul(matmul(x, model.w_q), transpose(matmul(x, model.w_k))) / 8;
  const Tensor weights = softmax(scores);  // (2, 6, 6)
  const Tensor output = matmul(matmul(weights, matmul(x, model.w_v)), model.w_o);
  CHECK(difference_to(model.look(ids).weights, weights) == "");
  CHECK(difference_to(model.logits(ids), matmul(output, model.guess)) == "");

  const OneHead again(Safetensors{.tensors = model.parameters()});
  CHECK(difference_to(again.logits(ids), model.logits(ids)) == "");
  Tensor keep = Tensor::ones({6, 6});  // (6, 6)
  keep.set({1, 4}, 0);
  const Mask mask = Mask::from(MaskEncoding::keep, keep);
  CHECK(model.look(ids, mask).weights.at({1, 1, 4}) == 0);
  CHECK(largest_difference(model.logits(ids, mask), model.logits(ids)) > 1e-4);
}
