// A step of training in parts, against the library's.
#include "course/training_rank.hpp"

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("a step in parts is a step of Adam by the summed gradients", "[phase8][course]") {
  TrainingRank one(alone());
  const std::vector<Tensor> before =
      tensors_of(row_of(one.model.parameters()), one.model.parameters());
  one.compute(1, 0), one.compute(1, 3);
  Tape tape(one.model.parameters());
  const Row gradients = row_of(tape.backward(one.loss(1, 0).loss_sum + one.loss(1, 3).loss_sum));
  CHECK(distance(one.gradients, gradients) < 1e-4 * distance(gradients, Row(gradients.size())));
  const Row made = one.gradients;
  one.all_reduce();  // one rank: nothing is added
  CHECK(one.gradients == made);
  one.update();
  CHECK(one.gradients == Row(made.size()));
  CHECK(one.adam.steps() == 1);
  TrainingRank other(alone());
  other.adam.step(tensors_of(made, other.model.parameters()));
  CHECK(row_of(other.model.parameters()) == row_of(one.model.parameters()));
  CHECK(different(row_of(other.model.parameters()),
                  row_of(TrainingRank(alone()).model.parameters())) > 0);
}

TEST_CASE("ranks that share the micro-batches have the gradients of one rank", "[phase8][course]") {
  TrainingRank one(alone());
  one.compute(2, 5), one.compute(2, 6);
  run_as_threads(2, [&](Ranks& ranks) {
    TrainingRank worker(ranks);
    worker.compute(2, 5 + ranks.rank());
    worker.all_reduce();
    CHECK_IN_THREAD(worker.gradients == one.gradients);  // a sum of two has one order
    worker.update();
    CHECK_IN_THREAD(different(row_of(worker.model.parameters()), row_of(one.model.parameters())) >
                    0);
  });
  CHECK(one.loss(2, 5).tokens == 256);
  CHECK(one.loss(2, 5).loss_sum.item() == one.loss(2, 5).loss_sum.item());
  CHECK(one.loss(2, 5).loss_sum.item() != one.loss(2, 6).loss_sum.item());
  CHECK(one.loss(3, 5).loss_sum.item() != one.loss(2, 5).loss_sum.item());
}

TEST_CASE("1, 2, 4 and 8 ranks have equally many micro-batches", "[phase8][course]") {
  for (const Index ranks : {1, 2, 4, 8}) CHECK(TrainingRank::micro_batches % ranks == 0);
}
